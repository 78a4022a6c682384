"""Services of the init system."""

PROVIDERS = ("systemd",)
