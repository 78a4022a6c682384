"""Creates and sends the events of a run, with secrets masked (target)."""
