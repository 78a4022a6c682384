"""Reports that are files: JSON, JUnit, Markdown, metrics (controller)."""
