"""The order of versions, by package family (both sides)."""
