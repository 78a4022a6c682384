"""Subscribers of the event bus that show, write and sum up a run (controller)."""
