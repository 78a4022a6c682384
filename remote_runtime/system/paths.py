"""Paths as they are written, links aside (target)."""


def is_within(path: str, folder: str) -> bool:
    """Whether a path is that of a folder, or one below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
