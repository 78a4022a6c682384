"""Common code for modules that become a command with a test (controller)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orchestrator.ansible.modules.commands import first_words, single_quoted
from orchestrator.ansible.modules.mapping_context import Context
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible


def words(*parts: str) -> str:
    """Parts of a command joined by single spaces; empty ones are omitted."""
    return " ".join(one for one in parts if one)


def shell(text: str) -> str:
    """Return a shell command as a command that is run without a shell."""
    return f"sh -c {single_quoted(text)}"


def state_of(arguments: Arguments, *known: str) -> str:
    """The state of a task, the first of ``states`` by default; NotConvertible for others."""
    state = arguments.literal("state", default=known[0]) or known[0]
    if state not in known:
        raise NotConvertible(f"ccm has no equivalent of state {state}")
    return state


def by_program(context: Context, program: str) -> Program:
    """Mark that a program does this, and return the builder of its commands."""
    context.check(f"runs {program}; ccm has no resource type for this")
    return Program(context)


@dataclass
class Program:
    """Builds the command of a task."""

    context: Context

    def __call__(
        self, command: str, *, unless: str = "", onlyif: str = "", creates: str = "",
        test: str = "", present: bool = True, fallback: str = "", **properties: Any,
    ) -> list[Entry]:  # fmt: skip
        """A shell command that runs unless a test succeeds.

        ``test`` succeeds if the object exists, and ``present`` is whether it should exist. Without
        a test, the command runs on each push, and is marked.
        """
        unless, onlyif = (test or unless, onlyif) if present else (unless, test or onlyif)
        context = self.context
        found: dict[str, Any] = {"command": command.strip(), "provider": "shell"}
        if unless:
            found["unless"] = shell(unless)
        if onlyif:
            found["onlyif"] = shell(onlyif)
        if creates:
            found["creates"] = creates
        if not (unless or onlyif or creates):
            context.check("it runs on each push and counts as a change")
        found.update(context.user(), **properties)
        known = [str(one) for one in found.get("environment", [])]
        secret = any("PASSWORD=" in one or "PWD=" in one for one in known)
        return [context.exec(fallback or first_words(command), found, sensitive=secret)]


def word(arguments: Arguments, *names: str) -> str:
    """A required argument, as one word for a shell."""
    return shell_word(arguments.required(*names))
