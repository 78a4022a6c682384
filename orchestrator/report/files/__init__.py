"""Reports that are written to files: JSON, JUnit, Markdown, metrics (controller)."""
