"""Ways to manage files (target)."""
