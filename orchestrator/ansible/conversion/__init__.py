"""Converts roles and plays to manifests (controller)."""
