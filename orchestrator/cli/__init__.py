"""The command line (controller): one file per command, and ``app`` that picks it."""
