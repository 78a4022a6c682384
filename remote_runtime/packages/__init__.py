"""Package managers: what is installed, what could be, and what a transaction changes."""
