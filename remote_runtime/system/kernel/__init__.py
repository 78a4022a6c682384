"""The kernel's settings and state, and changes to them (target)."""
