"""dpkg on the host: its database, its rules and the packages (target)."""
