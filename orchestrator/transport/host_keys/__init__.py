"""Which host keys are trusted (controller)."""
