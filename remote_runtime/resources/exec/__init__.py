"""The exec type: commands with conditions on when they run."""

PORTS = ("posix", "shell")
