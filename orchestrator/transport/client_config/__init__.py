"""Reads OpenSSH client configuration (controller)."""
