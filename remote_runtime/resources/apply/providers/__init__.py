"""Kinds of child manifests (target)."""
