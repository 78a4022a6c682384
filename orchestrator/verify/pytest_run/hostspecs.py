"""Finds the fleet that a testinfra host specification refers to (controller).

``ccm verify`` registers its own. In plain pytest, ``ccm://web1?inventory=hosts.yaml`` creates one
for each combination of parameters, when the first host needs it.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import sys
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.support.plain_text import plain
from orchestrator.verify.verify_hosts import Fleet, VerifyContext
from remote_runtime.errors import CcmError, UsageError

if TYPE_CHECKING:
    from orchestrator.secrets.key_sources import KeySources

SCHEME = "ccm"
PARAMETERS = ("inventory", "manifest", "user", "become", "fleet", "data", "hiera", "data_dir")
_MANY = ("inventory", "data", "hiera")

_fleets: dict[tuple[Any, ...], Fleet] = {}
_lock = threading.Lock()


def parameters(specification: str) -> dict[str, Any]:
    """The text after the question mark, in a form that can be a key; UsageError."""
    url = urllib.parse.urlsplit(specification)
    result: dict[str, Any] = {}
    for key, values in urllib.parse.parse_qs(url.query, keep_blank_values=True).items():
        if key not in PARAMETERS:
            raise UsageError(
                f"{SCHEME}:// has no parameter {key!r}",
                hint=f"supported: {', '.join(PARAMETERS)}",
            )
        result[key] = tuple(values) if key in _MANY else values[-1]
    return result


def parsed(specification: str) -> tuple[str, dict[str, Any]]:
    """The pattern and the parameters of ``ccm://PATTERN?...``, as accepted by testinfra."""
    pattern = specification.partition("://")[2].partition("?")[0].rstrip("/")
    with _in_a_sentence():
        return pattern or "all", {"connection": SCHEME, **parameters(specification)}


def enter(token: str, fleet: Fleet) -> None:
    """Register this fleet for ``ccm://HOST?fleet=TOKEN``."""
    with _lock:
        _fleets[_key({"fleet": token})] = fleet


def leave(token: str) -> None:
    """Remove a registered fleet; its creator closes it."""
    with _lock:
        _fleets.pop(_key({"fleet": token}), None)


def fleet_of(options: Mapping[str, Any]) -> Fleet:
    """The fleet of a specification's parameters; a problem ends the collection."""
    key = _key(options)
    with _lock, _in_a_sentence():
        if key not in _fleets:
            _fleets[key] = _made({name: value for name, value in options.items() if value})
        return _fleets[key]


def names_of(options: Mapping[str, Any], pattern: str) -> list[str]:
    """The hosts that a specification selects; see ``fleet_of``."""
    fleet = fleet_of(options)
    with _in_a_sentence():
        return fleet.names(pattern)


def close_all() -> None:
    """Close every fleet that was created here."""
    with _lock:
        made, entered = list(_fleets.items()), {}
        for key, fleet in made:
            if key[PARAMETERS.index("fleet")]:
                entered[key] = fleet
            else:
                fleet.hang_up()
        _fleets.clear()
        _fleets.update(entered)


@contextlib.contextmanager
def _in_a_sentence() -> Iterator[None]:
    """Raise a CollectError, whose message pytest reports without a traceback."""
    try:
        yield
    except CcmError as error:
        import pytest

        raise pytest.Collector.CollectError(plain(f"{SCHEME}://: {error}")) from error


def _key(options: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(options.get(name) for name in PARAMETERS)


def _made(given: Mapping[str, Any]) -> Fleet:
    from inventory import load
    from orchestrator.image import build
    from orchestrator.manifest import load_site
    from orchestrator.planning import Planner, PlanOptions
    from orchestrator.transport import Connector, Credentials, Settings

    sources = given.get("inventory", ())
    if not sources:
        raise UsageError(
            f"{SCHEME}:// requires an inventory", hint=f"write {SCHEME}://HOST?inventory=hosts.yaml"
        )
    inventory = load(list(sources))
    planner, own_types = None, None
    if given.get("manifest"):
        options = PlanOptions(
            given.get("hiera", ()),
            given.get("data", ()),
            data_dir=given.get("data_dir", ""),
            secret_keys=_secret_keys(given["manifest"]),
        )
        site = load_site(given["manifest"])
        planner, own_types = Planner(site, options), site.types.sources()
        planner.see(inventory)
    settings = Settings(
        inventory.hosts,
        user=given.get("user"),
        become=_become(given.get("become")),
        inventory=tuple(sources),
    )
    credentials = Credentials(prompt=getpass.getpass if sys.stdin.isatty() else None)
    connector = Connector(settings, credentials, build(own_types))
    hosts = list(inventory.hosts.values())
    connector.prepare(hosts)
    return Fleet(inventory, VerifyContext(connector, planner), hosts)


def _secret_keys(manifest: str) -> KeySources:
    """The keys of the project's secrets; pytest has the terminal, so there is no prompt."""
    from orchestrator.project.discovery import project_files
    from orchestrator.project.reader import read_project
    from orchestrator.secrets.key_sources import key_sources

    found = project_files(manifest)
    if not found:
        return key_sources({}, "", os.environ)
    project = read_project(found)
    return key_sources(project.secrets, project.directory, os.environ)


def _become(text: str | None) -> str | bool | None:
    return {None: None, "true": True, "false": False}.get(text, text)
