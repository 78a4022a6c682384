"""Helpers for every package of the controller; depends on none of them."""
