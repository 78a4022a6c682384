"""The wait type: continues when a port, a URL, a file or a command is ready."""

PORTS = ("posix", "shell")
