"""Kernel parameters."""
