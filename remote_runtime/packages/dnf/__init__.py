"""How packages change with dnf (target)."""
