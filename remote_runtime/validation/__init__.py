"""Rules that several resource types share (both sides)."""
