"""Starts and watches processes (target)."""
