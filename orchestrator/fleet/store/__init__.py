"""Stores runs and reads them (controller)."""
