"""The reboot type: it reboots the host, and then the run continues."""

PORTS = ("posix", "shell")
