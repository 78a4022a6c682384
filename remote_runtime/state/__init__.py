"""What a host remembers between runs (target)."""
