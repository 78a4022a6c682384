"""The plans of commands that apply no manifest (controller)."""
