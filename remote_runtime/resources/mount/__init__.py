"""Mounted file systems and swap space."""
