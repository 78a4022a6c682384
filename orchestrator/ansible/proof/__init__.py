"""Proves a conversion: after the playbook, the site must have nothing to do, and vice versa."""
