"""Many hosts at once: the window, one host's run, the event bus and the run directory."""
