"""The exec type: commands with conditions on when they run."""

PROVIDERS = ("posix", "shell")
