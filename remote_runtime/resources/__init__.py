"""The resource types, one directory for each (target; validation on both sides)."""
