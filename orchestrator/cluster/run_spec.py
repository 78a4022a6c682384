"""The specification of a run for a worker, which is sealed (both sides)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from remote_runtime.options import RunOptions


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
