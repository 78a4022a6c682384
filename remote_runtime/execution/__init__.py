"""Runs the resources of one plan (target)."""
