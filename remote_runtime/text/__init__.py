"""Helpers for texts: durations, shell words, similar words and others (both sides)."""
