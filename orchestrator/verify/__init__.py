"""Independent verification of hosts: checks derived from their plans, run with testinfra
(controller).

Only the desired values come from the compiled plan. testinfra's own modules ask the host, the rooms
here compare; nothing of ``remote_runtime`` that observes is imported.
"""
