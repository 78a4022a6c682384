"""Rewrites Ansible's expressions and templates with ccm's names (controller)."""
