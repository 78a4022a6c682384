"""Proves a conversion: the playbook and the converted site must leave each other nothing to do."""
