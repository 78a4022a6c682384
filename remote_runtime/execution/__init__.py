"""Takes the resources of one plan through their turns (target)."""
