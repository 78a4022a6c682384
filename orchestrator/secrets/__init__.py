"""Secrets that are encrypted in the repository, or that a command returns (controller).

This package is only loaded if a template or data uses a secret.
"""
