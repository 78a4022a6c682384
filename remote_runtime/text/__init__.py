"""Small helpers for texts: durations, shell words, near misses (both sides)."""
