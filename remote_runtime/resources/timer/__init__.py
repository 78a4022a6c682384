"""Timers of systemd with their jobs."""

PROVIDERS = ("systemd",)
