"""Converts Ansible projects to manifests (controller). Contacts no host, runs no Ansible."""
