"""Reads systemd's units: files, settings and the paths that they name (target)."""
