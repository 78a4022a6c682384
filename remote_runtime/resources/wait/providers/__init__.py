"""How a command that is waited for is run: as that of an exec."""
