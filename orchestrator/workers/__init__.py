"""Processes that stand for the controller on some hosts of a run (controller)."""
