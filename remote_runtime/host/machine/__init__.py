"""The ports of a push: what is called is done (target)."""
