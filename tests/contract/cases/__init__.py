"""The scenarios of each type, in a module by its name."""
