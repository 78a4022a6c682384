"""Reads the files of an Ansible project (controller)."""
