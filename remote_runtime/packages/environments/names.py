"""Names of Python packages, by PEP 503 (both sides)."""


def normalized(name: str) -> str:
    """The name of a package as all of its spellings have it."""
    plain = "".join("-" if char in "-_." else char for char in name.lower())
    while "--" in plain:
        plain = plain.replace("--", "-")
    return plain
