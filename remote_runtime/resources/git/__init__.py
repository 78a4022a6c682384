"""Checkouts of Git repositories."""
