"""One module per init system."""
