"""Keys that are allowed to log in over SSH."""
