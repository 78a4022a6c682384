"""The options of the command line that affect plans (controller)."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from inventory.yaml_document import Scalar, parse_document
from orchestrator.manifest.merge import merge_deep, nest
from orchestrator.project.settings import FACTS_MAX_AGE
from orchestrator.sources.address import PLACEHOLDER, recorded_name
from remote_runtime.errors import InputError, Problem, UsageError
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import SELECTION
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.secrets.key_sources import KeySources


class PlanOptions(NamedTuple):
    """``hiera`` and ``facts`` are files, ``data`` and ``fact`` assignments such as ``a.b=1``.

    All are applied in the order given, with ``handed`` before ``data``. ``only``, ``tags`` and
    ``skip`` select resources, see ``Selection``. ``environ`` replaces the environment of this
    process. ``registration`` is the registry of ``registrations()``, None for the default. The
    options of the ``run`` only affect warnings. ``data_dir`` is the project's data directory, ""
    for none. Cached facts of other hosts that are older than ``facts_max_age`` are gathered again.
    An entry of ``hiera`` may be a URL: ``fetched`` has the content of the URLs that were read,
    ``source_hosts`` are read without a digest, and without ``contact`` no machine is contacted for
    a URL. ``nats`` is the server of ``kv://`` and ``kvGet()``. ``archives`` are the directories of
    manifest archives by URL, with the path of each manifest. ``secret_keys`` are the keys of
    secrets; they stay in this process. ``secrets_elsewhere``: another process reads the secrets,
    and has checked them.
    """

    hiera: Sequence[str] = ()
    data: Sequence[str] = ()
    handed: Mapping[str, Any] = {}
    facts: Sequence[str] = ()
    fact: Sequence[str] = ()
    environ: Mapping[str, str] | None = None
    registration: str | None = None
    only: Sequence[str] = ()
    tags: Sequence[str] = ()
    skip: Sequence[str] = ()
    run: RunOptions = RunOptions()
    data_dir: str = ""
    facts_max_age: str = FACTS_MAX_AGE
    source_hosts: Sequence[str] = ()
    fetched: Mapping[str, str] = {}
    contact: bool = True
    nats: str | None = None
    archives: Mapping[str, Sequence[str]] = {}
    secret_keys: "KeySources | None" = None
    secrets_elsewhere: bool = False

    def record(self) -> dict[str, Any]:
        """The options in a form that may be stored: only the names of values, because values may be
        secret.
        """
        names = {
            key: [text.partition("=")[0] for text in texts]
            for key, texts in (("data", self.data), ("fact", self.fact))
        }
        hiera = [recorded_name(name) for name in self.hiera]
        return {"hiera": hiera, "facts": self.facts, **names, **self.selection()}

    def selection(self) -> dict[str, list[str]]:
        """The options that select a part of a manifest, by name; {} if all of it is selected."""
        options = [(name, getattr(self, name)) for name in SELECTION]
        return {name: list(map(Mask().text, texts)) for name, texts in options if texts}


def assignments(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """The tree of assignments such as ``--data a.b=1`` or ``--fact a.b=1``; UsageError."""
    tree: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals or not all(path.split(".")):
            raise UsageError(
                f"{option} {text!r} is not an assignment",
                hint=f"write {option} KEY=VALUE, or {option} a.b=VALUE for a nested key",
            )
        if value == PLACEHOLDER:
            raise UsageError(
                f"{option} {text} is a placeholder: its value may be secret, so it was not stored",
                hint=f"replace {PLACEHOLDER} with the value of the first run",
            )
        tree = merge_deep(tree, nest(path, _scalar(option, text, value)))
    return tree


def _scalar(option: str, text: str, value: str) -> Any:
    try:
        node = parse_document(value, option)
    except InputError as error:
        raise UsageError(
            f"{option} {text!r}: the value is not a YAML scalar",
            hint="quote the value itself, as in a='...'",
        ) from error
    if not isinstance(node, Scalar):
        raise UsageError(
            f"{option} {text!r}: the value is {node.describe()}",
            hint="only text, a number, true or false is allowed here; use a file for lists and "
            "maps",
        )
    return "" if value == "" else node.value


def load_environ(path: str = ".env") -> dict[str, str]:
    """The environment of this process, which overrides ``./.env``; InputError."""
    values: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        lines = []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Problem(f"cannot read {path}: {error}")]) from error
    for line in lines:
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            values[name.strip()] = _unquote(value.strip())
    return {**values, **os.environ}


def _unquote(value: str) -> str:
    quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
