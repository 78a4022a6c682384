"""The host as state types see it: one set of ports, on the machine and on the overlay (target)."""
