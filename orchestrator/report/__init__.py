"""Subscribers of the event bus that show, write and summarize a run (controller)."""
