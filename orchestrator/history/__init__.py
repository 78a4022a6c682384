"""Runs that are shared with others: in a directory, or by a studio (controller)."""
