"""Secrets, encrypted or from a command; loaded only if a template or data uses one (controller)."""
