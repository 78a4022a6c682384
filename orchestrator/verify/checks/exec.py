"""exec: the path that it creates, or its guards (controller); nothing else shows its effects."""

import posixpath

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.paths import exists
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import nothing_to_do


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations: its path in ``creates`` exists, or its guards prevent it from running.
    Refreshes are not checked.
    """
    if subject.get("refresh_only"):
        return []
    path = subject.text("creates")
    given = [key for key in ("creates", "onlyif", "unless") if subject.get(key)]
    if given not in ([], ["creates"]):
        conditions = " or ".join(map(repr, given))
        return [nothing_to_do("conditions", f"that {conditions} prevents the command")]
    return [exists(posixpath.join(subject.text("cwd"), path), "creates")] if path else []
