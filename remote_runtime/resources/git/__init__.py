"""Checkouts of git repositories."""
