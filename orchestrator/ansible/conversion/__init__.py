"""Turns roles and plays into manifests (controller)."""
