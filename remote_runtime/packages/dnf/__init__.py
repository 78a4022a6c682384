"""Changes packages with dnf (target)."""
