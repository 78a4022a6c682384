"""Reads plans and checks a push against a plan file (target)."""
