"""Durations in the form of the manifest: "30s", "5m", "1h30m", "500ms" (both sides)."""

_PART = r"(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h|d)"
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def parse(text: str) -> float:
    """Return the seconds of a duration. ``ValueError`` says what was expected."""
    import re  # a run without durations on the target does without it

    pattern = re.compile(_PART)
    rest = text.strip()
    if rest == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(rest):
        part = pattern.match(rest, at)
        if part is None:
            break
        total += float(part.group(1)) * _SECONDS[part.group(2)]
        at = part.end()
    if not rest or at != len(rest):
        raise ValueError("%r is not a duration such as 30s, 5m or 1h30m" % text)
    return total
