"""The extra packages of ``ccm studio`` (controller)."""

from __future__ import annotations

import importlib

from remote_runtime.errors import UsageError

EXTRA_HINT = "pip install 'ccm-push[studio]'"


def require_studio() -> None:
    """UsageError if a package of the extra is missing."""
    try:
        for name in ("argon2", "starlette", "uvicorn"):
            importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"ccm studio requires the package {error.name}, which is not installed", hint=EXTRA_HINT
        ) from error
