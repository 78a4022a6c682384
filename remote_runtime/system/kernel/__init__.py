"""What the kernel tells of itself, and how it is set (target)."""
