"""Processes that run some hosts for the controller (controller)."""
