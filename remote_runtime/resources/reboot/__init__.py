"""The reboot type: it reboots the host, after which the run continues."""

PORTS = ("posix", "shell")
