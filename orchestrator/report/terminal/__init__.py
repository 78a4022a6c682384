"""Reports that people read in a terminal (controller)."""
