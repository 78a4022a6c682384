"""Hosts, groups, variables and selection; knows nothing of SSH (controller only)."""
