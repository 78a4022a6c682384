"""Reads and unpacks archives with the standard library (target)."""
