"""Determines which host keys are trusted (controller)."""
