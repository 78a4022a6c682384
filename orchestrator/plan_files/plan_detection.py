"""Distinguishes a plan from a manifest (controller)."""

import os

PROTOCOL = "io.choria.ccm.v1.plan"
SUFFIX = ".plan"
_BEGIN = 4096


def is_plan(path: str) -> bool:
    """Whether a path is a plan rather than a manifest, by its suffix or its content.

    Only a regular file is read, because the data of a pipe can be read only once.
    """
    if path.endswith(SUFFIX):
        return True
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            begin = file.read(_BEGIN)
    except OSError:
        return False
    return begin.startswith(b"{") and f'"protocol":"{PROTOCOL}"'.encode() in begin
