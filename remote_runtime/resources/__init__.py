"""The resource types: each a folder with everything about it (target; validation on both sides)."""
