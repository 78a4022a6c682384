"""The command line (controller): one file per command, and ``app``, which selects the command."""
