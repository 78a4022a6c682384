"""Tells a plan from a manifest (controller)."""

PROTOCOL = "io.choria.ccm.v1.plan"
SUFFIX = ".plan"
_BEGIN = 4096


def is_plan(path: str) -> bool:
    """Whether a path is meant to be a plan, not a manifest: by its ending, or what stands in it."""
    if path.endswith(SUFFIX):
        return True
    try:
        with open(path, "rb") as file:
            begin = file.read(_BEGIN)
    except OSError:
        return False
    return begin.startswith(b"{") and f'"protocol":"{PROTOCOL}"'.encode() in begin
