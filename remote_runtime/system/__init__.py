"""All access to processes, the file system, accounts and locks (target)."""
