"""Converts tasks to resources, module by module (controller)."""

from importlib import import_module

_MODULES = (
    "accounts", "commands", "containers", "databases", "downloads", "edits", "files.copies",
    "files.states", "files.templates", "find", "host_settings", "language_packages",
    "miscellaneous", "openssl_keys", "packages", "repositories", "security", "services", "waits",
)  # fmt: skip


def load_mappers() -> None:
    """Import the modules that register mappers."""
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
