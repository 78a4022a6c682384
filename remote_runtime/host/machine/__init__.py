"""The ports of a push: each call acts on the machine (target)."""
