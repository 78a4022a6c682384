"""A scenario as data: a host's state, a manifest, and what of its outcome nobody can foretell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # pytest reads all at each start
DIRECTORY = Path(__file__).parent / "scenarios"
DEFAULTS = {"file": {"owner": "root", "group": "root", "mode": "0644"}}
"""What ``resources`` without a ``manifest`` begin with."""


@dataclass(frozen=True)
class Scenario:
    """One site change. Resources are named ``type#name``.

    ``setup`` is shell on the host, ``second`` the one of another host that is pushed with it.
    ``earlier`` are pushes of the same site before the preview, in their order: each may have
    ``files`` and ``resources`` or a ``manifest`` of its own, ``fails`` if it is not to end well,
    and shell that comes ``then``.
    ``files`` stand beside the manifest, path to text, those that begin with ``#!`` with x.
    ``resources`` are those of a manifest with ``DEFAULTS``; ``manifest`` is a whole one.
    ``connect`` are connection properties, ``options`` those of preview and push.

    ``fails`` names what the push is to fail, ``again`` what a second push may do once more.
    ``open`` is what cannot be known beforehand, with its reason: unknown and assumed are right
    there. Such a resource among ``fails`` may fail or not. ``inherent`` is what only running can
    tell, with its reason: there a certain prediction may be wrong. ``touches`` are paths that the
    scenario's own guards change in a preview. With ``npm``, hosts get this machine's npm.
    """

    area: str
    name: str
    setup: str = ""
    second: str | None = None
    earlier: tuple[Mapping[str, Any], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    resources: list[Any] = field(default_factory=list)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    connect: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    open: Mapping[str, str] = field(default_factory=dict)
    inherent: Mapping[str, str] = field(default_factory=dict)
    touches: tuple[str, ...] = ()
    npm: bool = False
    quick: bool = False

    def as_earlier(self, push: Mapping[str, Any]) -> Scenario:
        """The site as an earlier push had it."""
        own = {key: push[key] for key in ("files", "resources", "manifest") if key in push}
        if "resources" in own or "manifest" in own:
            own = {"resources": [], "manifest": {}, **own}
        return replace(self, **own)

    def write(self, directory: Path) -> Path:
        """Write the manifest and what stands beside it; return the manifest's path."""
        for name, text in self.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if text.startswith("#!") else 0o644)
        whole = self.manifest or {"ccm": {"defaults": DEFAULTS, "resources": self.resources}}
        site = directory / "site.yaml"
        text = yaml.safe_dump(dict(whole), sort_keys=False, allow_unicode=True)
        site.write_text(text, encoding="utf-8")
        return site


def load(directory: Path = DIRECTORY) -> list[Scenario]:
    """All scenarios, by file; ``ValueError`` names one that is not what it should be."""
    found = [
        _scenario(path.stem, entry)
        for path in sorted(directory.glob("*.yaml"))
        for entry in yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    ]
    names = [scenario.name for scenario in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two scenarios are called {', '.join(twice)}")
    return found


def _scenario(area: str, entry: dict[str, Any]) -> Scenario:
    name = entry.get("name", "?")
    known = {each.name for each in fields(Scenario)} - {"area"}
    if unknown := sorted(set(entry) - known):
        raise ValueError(f"{area}: {name}: unknown: {', '.join(unknown)}")
    if bool(entry.get("resources")) == bool(entry.get("manifest")):
        raise ValueError(f"{area}: {name}: either resources or a manifest")
    for push in entry.get("earlier", ()):
        if unknown := sorted(set(push) - {"files", "resources", "manifest", "fails", "then"}):
            raise ValueError(f"{area}: {name}: earlier: unknown: {', '.join(unknown)}")
    for key in ("options", "fails", "again", "touches", "earlier"):
        entry[key] = tuple(entry.get(key, ()))
    return Scenario(area, **entry)


def chosen(scenarios: Iterable[Scenario], pattern: str) -> list[Scenario]:
    """Those whose area or name holds one of the words of ``pattern``, separated by commas."""
    words = pattern.split(",")
    return [s for s in scenarios if any(word in f"{s.area}/{s.name}" for word in words)]
