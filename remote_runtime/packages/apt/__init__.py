"""How packages change with apt (target)."""
