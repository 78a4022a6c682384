"""The wait type: goes on once a port, a URL, a file or a command says that it can."""

PORTS = ("posix", "shell")
