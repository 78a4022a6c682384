"""The reboot type: the host is started anew, and the run goes on behind it."""

PORTS = ("posix", "shell")
