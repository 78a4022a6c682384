"""The state that a host stores between runs (target)."""
