"""Kernel modules."""
