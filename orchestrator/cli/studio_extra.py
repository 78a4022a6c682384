"""What ``ccm studio`` needs beyond a plain installation (controller)."""

from __future__ import annotations

from remote_runtime.errors import UsageError

EXTRA_HINT = "pip install 'ccm-push[studio]'"


def require_studio() -> None:
    """UsageError where a package of the extra is missing."""
    try:
        import argon2  # noqa: F401  # whether it is there
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise UsageError(
            f"ccm studio needs the package {error.name}, which is not installed", hint=EXTRA_HINT
        ) from error
