"""Processes that run some of the hosts for the controller (controller)."""
