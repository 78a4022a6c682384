"""Converts the tasks of one module each to resources (controller)."""

from importlib import import_module

_MODULES = (
    "accounts", "commands", "downloads", "edits", "files", "host_settings", "packages",
    "programs", "repositories", "services", "waits",
)  # fmt: skip


def load_mappers() -> None:
    """Import the modules that name mappers."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
