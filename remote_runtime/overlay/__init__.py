"""The target as it will be at a resource's turn: what a preview reads (target)."""
