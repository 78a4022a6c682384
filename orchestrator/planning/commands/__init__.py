"""Plans of commands that do not apply a manifest (controller)."""
