"""Encrypted credentials of systemd's services."""
