"""Packages of the system, of Python and of Node.js."""

PROVIDERS = ("apt", "dnf", "pip", "npm")
