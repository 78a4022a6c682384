"""Converts the tasks of one module each to resources (controller)."""

from importlib import import_module

_MODULES = ("commands", "files", "packages", "services")


def load_mappers() -> None:
    """Import the modules that name mappers."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
