"""Bad input of every type is refused with file, line, column and a hint.

``refused/TYPE.txt`` has one entry of a list of resources on each line, with ``^^`` where the
mistake is, and after it a part of the message. A first line ``defaults:`` applies to all.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.manifest.loader import load_site
from orchestrator.manifest.resource_types import type_names
from remote_runtime.errors import InputError, Problem

REFUSED = Path(__file__).parent / "refused"
FILES = sorted(REFUSED.glob("*.txt"))
MINIMUM = 20
"""Bad inputs that each type must refuse, each with a message of its own."""
MARK, COMMENT, DEFAULTS = "^^", "  # ", "defaults:"


class Case(NamedTuple):
    """A bad manifest, and what ccm must say of it."""

    text: str
    line: int
    column: int
    fragment: str


def cases_of(name: str) -> list[Case]:
    """The bad inputs of a type."""
    lines = (REFUSED / f"{name}.txt").read_text("utf-8").splitlines()
    head = f"ccm:\n  resources:\n    - {name}:\n"
    if lines[0].startswith(DEFAULTS):
        head += f"        - {lines.pop(0)}\n"
    found = []
    for line in lines:
        entry, _, fragment = line.rpartition(COMMENT)
        before, _, after = entry.partition(MARK)
        item = f"        - {before}"
        found.append(Case(f"{head}{item}{after}\n", head.count("\n") + 1, len(item) + 1, fragment))
    return found


def problems_of(case: Case, directory: Path) -> list[Problem]:
    """What ccm says of the manifest."""
    site = directory / "site.yaml"
    site.write_text(case.text, "utf-8")
    try:
        load_site(site)
    except InputError as error:
        return error.problems
    return []


def test_every_type_has_bad_inputs() -> None:
    """Each type of ccm has a file of them."""
    assert sorted(path.stem for path in FILES) == type_names()


@pytest.mark.parametrize("name", [path.stem for path in FILES])
def test_bad_input_is_refused(name: str, tmp_path: Path) -> None:
    """Each type refuses at least twenty bad inputs, at their positions and with a hint."""
    (tmp_path / "file").write_text("x\n")
    messages, wrong = set(), []
    for case in cases_of(name):
        found = problems_of(case, tmp_path)
        for problem in found:
            where = problem.where
            if where and where[1:] == (case.line, case.column) and case.fragment in problem.message:
                messages.add(problem.message)
                if not problem.hint:
                    wrong.append(f"no hint: {problem}")
                break
        else:
            wrong.append(f"{case.text} expected {case[1:]}, found {list(map(str, found))}")
    assert wrong == []
    assert len(messages) >= MINIMUM, f"only {len(messages)}"
