"""One module per package manager."""
