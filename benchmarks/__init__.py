"""Measurements against the floor (plain ssh) and pyinfra; not part of the test suite."""
