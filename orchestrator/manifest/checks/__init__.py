"""Checks of a manifest that need no host (controller)."""
