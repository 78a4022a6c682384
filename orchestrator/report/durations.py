"""Durations in readable form (controller)."""


def duration_text(seconds: float) -> str:
    """A readable duration: ``0.42 s``, ``12.3 s``, ``3 min 05 s``."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
