"""The kinds of resources in goss rules: one module each, found by its name (target)."""

from typing import Dict

from remote_runtime.health.kind import Kind

NAMES = (
    "addr",
    "command",
    "dns",
    "file",
    "group",
    "http",
    "interface",
    "kernel-param",
    "matching",
    "mount",
    "package",
    "port",
    "process",
    "service",
    "user",
)

_loaded: Dict[str, Kind] = {}


def load(name: str) -> Kind:
    """Return the kind with that name, one of ``NAMES``; its module is imported on first use."""
    if name not in _loaded:
        from importlib import import_module

        module = import_module("%s.%s" % (__name__, name.replace("-", "_")))
        _loaded[name] = module.KIND
    return _loaded[name]
