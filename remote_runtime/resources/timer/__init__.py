"""systemd timers with their jobs."""

PROVIDERS = ("systemd",)
