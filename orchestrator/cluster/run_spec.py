"""The specification of a run and of its hosts for a worker, which is sealed (both sides)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from remote_runtime.options import RunOptions

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


class Recipe(NamedTuple):
    """The inputs of a planner: a manifest, and the ``data`` of options as in ``PlanOptions``; for a
    command, a ``CommandSpec`` instead; for a request for facts, nothing.

    For a stage, it has the stage's name and, in a preview, the names of its hosts.
    """

    manifest: str
    data: Mapping[str, Any]
    identity: str = ""
    stage: str = ""
    hosts: tuple[str, ...] = ()


class Access(NamedTuple):
    """The connection options of the controller's user; see ``Settings``.

    ``at_once`` is the maximum number of hosts at a time.
    """

    user: str | None
    become: bool | str | None
    connect_timeout: float | None
    inventory: tuple[str, ...]
    become_password: str | None
    at_once: int


class RunSpec(NamedTuple):
    """A run. ``directory`` is the user's working directory; ``bundle`` and ``key`` select the site
    and decrypt it; ``receipts`` is the key of the receipts of hosts. ``hosts`` are the jump hosts,
    ``inventory`` is the part of all hosts that templates read.
    """

    run_id: str
    user: str
    options: RunOptions
    recipes: tuple[Recipe, ...]
    access: Access
    directory: str
    environ: Mapping[str, str]
    hosts: Mapping[str, Mapping[str, Any]]
    bundle: str
    key: str
    making: str = ""
    held: Mapping[str, Any] | None = None
    origin: Mapping[str, Any] = {}
    receipts: str = ""
    inventory: Mapping[str, Any] | None = None

    def record(self) -> dict[str, Any]:
        """The record for JSON."""
        return {
            **self._asdict(),
            "options": self.options._asdict(),
            "recipes": [recipe._asdict() for recipe in self.recipes],
            "access": self.access._asdict(),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> RunSpec:
        """The specification in a record; TypeError."""
        recipes = (Recipe(**{**one, "hosts": tuple(one["hosts"])}) for one in record["recipes"])
        access = record["access"]
        return cls(
            **{
                **record,
                "options": RunOptions(**record["options"]),
                "recipes": tuple(recipes),
                "access": Access(**{**access, "inventory": tuple(access["inventory"])}),
            }
        )
