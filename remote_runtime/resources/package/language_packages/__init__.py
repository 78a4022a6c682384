"""Packages of programming languages, in separate directories (both sides)."""

from typing import Dict, Sequence

from remote_runtime.base import Properties

PROVIDERS = ("pip", "npm")
SHARED = ("package", "owner", "index_url", "options")
OWN: Dict[str, Sequence[str]] = {
    "pip": ("environment", "python", "requirements", "require_hashes"),
    "npm": ("path", "global", "ci", "production"),
}
"""The properties of each provider, in addition to those that both share."""


def provider_of(properties: Properties) -> str:
    """The provider that a resource requests, by its name or its properties; "" for a package of the
    system.
    """
    provider = properties.get("provider")
    if isinstance(provider, str) and provider:
        return provider
    if properties.get("environment"):
        return "pip"
    return "npm" if properties.get("path") or properties.get("global") else ""


def is_environment_package(properties: Properties) -> bool:
    """Return whether a property is set that only they have, or that names their provider."""
    keys = (*SHARED, *(key for own in OWN.values() for key in own))
    has_key = any(properties.get(key) not in (None, False) for key in keys)
    return has_key or provider_of(properties) in PROVIDERS
