"""Keeps runs and reads them back (controller)."""
