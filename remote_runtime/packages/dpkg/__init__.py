"""What dpkg has and does: its database, its rules, the packages themselves (target)."""
