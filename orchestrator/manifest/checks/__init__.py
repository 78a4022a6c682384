"""Checks what a manifest says, without a host (controller)."""
