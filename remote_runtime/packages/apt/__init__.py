"""Changes packages with apt (target)."""
