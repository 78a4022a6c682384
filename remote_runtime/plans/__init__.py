"""Reads plans and checks a push against a kept plan (target)."""
