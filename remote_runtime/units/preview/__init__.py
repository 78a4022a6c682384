"""Predicts what systemd will do with units (target; in previews only)."""
