"""The host as provided to state types: one set of ports, for the machine and for the overlay
(target).
"""
