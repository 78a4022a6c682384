"""Runs the checks of a verify with pytest and testinfra (controller)."""
