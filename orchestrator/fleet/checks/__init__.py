"""Checks what hosts report before anything uses it (controller)."""
