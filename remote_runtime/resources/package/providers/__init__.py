"""The package managers that the type knows."""
