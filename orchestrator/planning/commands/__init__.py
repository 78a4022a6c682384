"""Plans of commands that apply no manifest (controller)."""
