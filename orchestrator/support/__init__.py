"""Helpers for all packages of the controller; it depends on none of them."""
