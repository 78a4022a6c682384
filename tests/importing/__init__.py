"""Projects for Ansible as people write them, converted and proved on booted hosts."""
