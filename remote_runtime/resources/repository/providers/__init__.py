"""Package managers that read repositories."""
