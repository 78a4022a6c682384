"""Package repositories of apt and dnf, and the keys that sign them."""

PROVIDERS = ("apt", "dnf")
