"""How the guard of a reboot is run: as that of an exec."""
