"""Runs that others post to the studio, and what the studio tells other programs (controller)."""
