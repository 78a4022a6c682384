"""The run of one host (controller)."""
