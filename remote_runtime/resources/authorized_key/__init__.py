"""Keys that may log in over SSH."""
