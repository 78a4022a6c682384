"""The only doors to processes, the file system, accounts and locks (target)."""
