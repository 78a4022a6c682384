"""Symlinks."""
