"""Packages of the system's package manager."""

PROVIDERS = ("apt", "dnf")
