"""Writes the command line that repeats a run, for hosts that are then selected (controller)."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.project.settings import DEFAULT_FORKS
from orchestrator.sources.address import PLACEHOLDER, is_url
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import SELECTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.request import ConnectionOptions, RunRequest

_OF_MANIFESTS = ("push", "apply", "drift")  # commands whose last word is their manifest
# The names of options in a record equal those of their flags, each with its value or values.
_OF_PLAN = ("hiera", "facts")
_OF_PREVIEW = ("package_probe", "probe_urls", "refresh_lists", "timeout", "stall_timeout")
_APPROVAL = ("--signers=", "--approvals=")
_VALUES = (*_OF_PLAN, "user", "registration")


def retry_words(push: "PushJob", request: "RunRequest") -> tuple[str, ...]:
    """Return the same command line without ``-l``; empty if no command line is equivalent.

    Values of ``--data`` and ``--fact`` are left for the user to fill in, because they may be
    secret.
    """
    repeatable = push.words or push.command in _OF_MANIFESTS
    if not (push.stored and request.hosts.inventory and repeatable):
        return ()
    record = request.record()
    words = ["ccm", push.command]
    words += _of_inventory(request)
    words += _of_run(request.run)
    words += ["--verify"] if request.verify else []
    settled = push.binder is not None and push.words  # a plan's file has settled these
    for name in _VALUES:
        if settled and name in _OF_PLAN:
            continue
        for value in _listed(record.get(name)):
            words += [_flag(name), value]
    for name, value in request.rollout.record().items():
        flag = _flag(name)
        words += [flag] if value is True else [w for one in _listed(value) for w in (flag, one)]
    if not settled:
        words += [f"--{name}={one}" for name in SELECTION for one in _listed(record.get(name))]
    words += _last(request, record)
    return (*words, *(push.words or [_path(push.what, request.hosts.inventory)]))


def retry_failed_words(push: "PushJob", request: "RunRequest") -> tuple[str, ...]:
    """Return the command for failed hosts. A host accepts a plan only once, so the command creates
    a new plan.
    """
    repeated = retry_words(push, request)
    if not (repeated and push.binder is not None and push.words):
        return repeated
    *choice, plan = (word for word in push.words if not word.startswith(_APPROVAL))
    record = request.record()
    words = ["ccm", "plan"]
    words += _of_inventory(request)
    bounds = {name: getattr(request.run, name) for name in _OF_PREVIEW}
    words += _of_run(RunOptions(**bounds))
    for name in (*_OF_PLAN, "user"):
        words += [word for value in _listed(record.get(name)) for word in (_flag(name), value)]
    words += [f"--{name}={one}" for name in SELECTION for one in _listed(record.get(name))]
    words += _last(request, record)
    return (*words, *choice, "-o", plan, _path(push.what, request.hosts.inventory or ()))


def _path(manifest: str, sources: "Sequence[str]") -> str:
    """The manifest's path in the form of the inventory's path."""
    if not is_url(manifest) and not any(map(os.path.isabs, sources)):
        with suppress(OSError):  # the current directory may be gone
            relative = os.path.relpath(manifest)
            return manifest if relative.startswith("..") else relative
    return manifest


def _of_run(run: RunOptions) -> "Iterator[str]":
    """The selected part; some commands choose it for the user."""
    chosen = run._asdict()
    without = RunOptions(noop=run.drift, package_probe=not run.drift, diff=not run.adhoc)
    for name, default in without._asdict().items():
        value = chosen[name]
        if value == default or name in ("drift", "adhoc"):
            continue
        if not isinstance(value, bool):
            yield f"{_flag(name)}={value:g}"
        else:
            yield _flag(name) if value else _flag(f"no_{name}")


def _of_inventory(request: "RunRequest") -> list[str]:
    return [word for path in request.hosts.inventory or () for word in ("-i", path)]


def _last(request: "RunRequest", record: dict[str, Any]) -> "Iterator[str]":
    """The options of both command lines that come last."""
    for name in ("data", "fact"):
        for key in _listed(record.get(name)):
            yield from (_flag(name), f"{key}={PLACEHOLDER}")
    if "engine" in record:
        yield from ("--engine", record["engine"])
    yield from _of_connection(request.connection)


def _of_connection(connection: "ConnectionOptions") -> "Iterator[str]":
    if connection.forks != DEFAULT_FORKS:
        yield from ("--forks", str(connection.forks))
    if connection.become:
        yield "--become" if connection.become is True else f"--become={connection.become}"
    if connection.connect_timeout is not None:
        yield f"--connect-timeout={connection.connect_timeout:g}"
    for name in ("ask_pass", "ask_become_pass"):
        if getattr(connection, name):
            yield _flag(name)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _listed(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return list(map(str, value))
    return [value] if value else []
