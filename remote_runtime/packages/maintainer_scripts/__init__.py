"""Reads the scripts of packages to predict their effects (target; in previews only)."""
