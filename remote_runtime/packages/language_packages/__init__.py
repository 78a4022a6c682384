"""Packages of programming languages, in separate directories (both sides)."""
