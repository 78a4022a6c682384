"""Names of Python packages, by PEP 503 (both sides)."""


def normalized(name: str) -> str:
    """Return the normalized name of a package, which all of its spellings share."""
    plain = "".join("-" if char in "-_." else char for char in name.lower())
    while "--" in plain:
        plain = plain.replace("--", "-")
    return plain
