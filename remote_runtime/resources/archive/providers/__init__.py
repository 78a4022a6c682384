"""Ways to get archives (target)."""
