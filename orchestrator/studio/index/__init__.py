"""The index of stored runs: a copy in SQLite that can be deleted at any time (controller)."""
