"""Runs a verify: hosts in parallel, within a pytest session (controller)."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.support.state_directory import make_private, state_directory
from remote_runtime.errors import InputError, Position, Problem

if TYPE_CHECKING:
    from inventory import Host, Inventory
    from orchestrator.fleet.sliding_window import Window
    from orchestrator.planning import Planner
    from orchestrator.transport import Connector
    from orchestrator.verify.assessment import Assessment, Outcome


class VerifyJob(NamedTuple):
    """The hosts to verify and how. ``tests`` are the user's tests, ``options`` are for pytest."""

    manifest: Path
    inventory: Inventory
    hosts: Sequence[Host]
    connector: Connector
    planner: Planner
    forks: int
    timeout: float = 300.0
    tests: Sequence[str] = ()
    options: Sequence[str] = ()


def check_tests(paths: Sequence[str]) -> None:
    """InputError if a test does not exist or is not Python; none of it is run."""
    problems: list[Problem] = []
    for text in paths:
        path = Path(text.split("::")[0])
        if not path.exists():
            problems.append(
                Problem(f"there is no test file or directory {path}", None, "check the path")
            )
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            if file.suffix == ".py" and (file == path or _is_test(file)) and file.exists():
                problems += _syntax(file)
    if problems:
        raise InputError(problems, kind="input.test")


def _is_test(file: Path) -> bool:
    name = file.name
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")


def _syntax(file: Path) -> list[Problem]:
    try:
        compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        where = Position(str(file), error.lineno or 1, error.offset or 1)
        return [Problem(f"not valid Python: {error.msg}", where)]
    except (OSError, ValueError) as error:
        return [Problem(f"cannot read {file}: {error}")]
    return []


def verify(
    checkup: VerifyJob,
    on_outcome: Callable[[Outcome], None],
    watch: Callable[[Window[Any] | None], None] = lambda window: None,
    asked: Callable[[int], None] = lambda hosts: None,
) -> Assessment:
    """Run every check; ``told`` receives each outcome, ``watch`` receives the window while it
    checks the hosts, and then None, and ``asked`` receives the number of hosts that answered.
    """
    import pytest

    from orchestrator.verify.host_check import HostOutcome, verify_all
    from orchestrator.verify.pytest_run import hostspecs
    from orchestrator.verify.pytest_run.collection import CheckPlugin
    from orchestrator.verify.verify_hosts import Fleet, VerifyContext

    path = checkup.manifest
    checkup = checkup._replace(manifest=path.parent.resolve() / path.name)  # as pytest names it
    token = secrets.token_hex(8)
    context = VerifyContext(checkup.connector, checkup.planner, checkup.timeout)
    fleet = Fleet(checkup.inventory, context, checkup.hosts)
    names = [host.name for host in checkup.hosts]

    def visit() -> Mapping[str, HostOutcome]:
        """Check all hosts."""
        found = verify_all(
            fleet.members, checkup.forks, keep=bool(checkup.tests), watch=watch, asked=asked
        )
        watch(None)
        return {name: found[name] for name in names}

    checking = CheckPlugin(checkup.manifest, names, visit=visit, token=token, on_outcome=on_outcome)
    hostspecs.enter(token, fleet)
    try:
        code = int(pytest.main(_arguments(checkup), plugins=[checking]))
    finally:
        hostspecs.leave(token)
        fleet.close()
    return checking.assessment(code)


def _arguments(checkup: VerifyJob) -> list[str]:
    """pytest's command line: the user's tests first, so that they are refused before a login."""
    cache = state_directory() / "pytest"
    with contextlib.suppress(OSError):  # pytest runs without its cache, too
        make_private(cache)
    words = ["-o", f"cache_dir={cache}", "-p", "orchestrator.verify.pytest_run.terminal_report"]
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # testinfra is loaded before
    if not checkup.tests:
        # Settings and conftest.py that happen to be next to a manifest are not meant for it.
        words += ["-c", os.devnull, "--rootdir", str(checkup.manifest.parent), "--noconftest"]
    return [*words, *checkup.options, *checkup.tests, str(checkup.manifest)]
