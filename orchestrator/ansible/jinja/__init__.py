"""Rewrites Ansible's expressions and templates to the names of ccm (controller)."""
