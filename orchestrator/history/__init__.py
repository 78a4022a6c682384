"""Runs that are shared with others, in a directory or through a studio (controller)."""
