"""Content that plans refer to by its hash (controller)."""
