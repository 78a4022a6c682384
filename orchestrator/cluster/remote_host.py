"""A host of the controller's inventory in the form that a worker uses (both sides)."""

import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

_FILES = ("key_file", "known_hosts")  # of the login user: below the home directory of that user


class RemoteHost(NamedTuple):
    """The resolved values of a host in the inventory."""

    name: str
    address: str
    port: int | None
    user: str | None
    key_file: str | None
    known_hosts: str | None
    become: bool | str | None
    python: str | None
    connection: Literal["ssh", "local"]
    connect_timeout: float | None
    jump: str | None
    groups: tuple[str, ...]
    vars: Mapping[str, Any]


def host_record(host: Any) -> dict[str, Any]:
    """A host of an inventory, for JSON, without default values."""
    told = {name: getattr(host, name) for name in RemoteHost._fields}
    for name in _FILES:
        told[name] = _from_home(told[name])
    return {name: value for name, value in told.items() if value is not None}


def remote_host(record: Mapping[str, Any]) -> RemoteHost:
    """The host in a record."""
    told: dict[str, Any] = dict.fromkeys(RemoteHost._fields)
    told.update(record)
    for name in _FILES:
        if told[name] is not None:
            told[name] = os.path.expanduser(told[name])
    return RemoteHost(**{**told, "groups": tuple(told["groups"])})


def _from_home(path: str | None) -> str | None:
    home = os.path.expanduser("~").rstrip("/")
    if path is not None and home and path.startswith(f"{home}/"):
        return f"~{path[len(home) :]}"
    return path
