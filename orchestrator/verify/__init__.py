"""Independent verification of hosts: checks derived from their plans, run with testinfra
(controller).

Only the desired values come from the compiled plan. testinfra's modules query the host, and the
packages here compare the results; no code of ``remote_runtime`` that observes state is imported.
"""
