"""Ways to run commands (target)."""
