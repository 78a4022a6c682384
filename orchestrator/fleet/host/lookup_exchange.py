"""Sends the lookups of a plan to its host (controller)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.host_facts import (
    MAX_ANSWERS,
    Answer,
    HostFacts,
    Question,
    check_answers,
    check_facts,
)
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import PlanError, ProtocolError
from remote_runtime.protocol import wire

SECONDS = 30.0  # in addition to the time of the lookups
EACH = 10.0


class LookupExchange:
    """A host's facts while ccm waits for the answers to its lookups.

    During this, the facts are stored as text, which needs much less memory.
    """

    def __init__(self, link: FramedLink, facts: wire.Message, hello: dict[str, Any]) -> None:
        self._link = link
        self._facts = json.dumps(facts).encode("ascii")
        self._hello = hello
        self._answers: dict[str, Answer] = {}

    def ask(self, questions: Mapping[str, Question]) -> None:
        """Send all of them to the host at once, and wait for its answers. CcmError."""
        if not questions or len(self._answers) + len(questions) > MAX_ANSWERS:
            raise PlanError(
                f"its manifests have more than {MAX_ANSWERS} lookups",
                kind="ask",
                hint="combine lookups in one command, or use fewer child manifests",
            )
        self._link.send({"t": "ask", "questions": list(questions.values())})
        with self._link.within(SECONDS + EACH * len(questions), "answers to lookups"):
            answers = check_answers(self._message(), len(questions))
        self._answers.update(zip(questions, answers, strict=True))

    def _message(self) -> wire.Message:
        while True:
            message = self._link.message()
            kind = message["t"]
            if kind == "answers":
                return message
            if kind == "done" and isinstance(message.get("error"), dict):
                text = one_line(str(message["error"].get("message")))
                raise PlanError(f"the lookups failed: {text}", kind="ask")
            if kind not in ("notice", "progress"):
                raise ProtocolError(f"expected answers, got {one_line(kind, 40)!r}")

    def gathered(self) -> HostFacts:
        """The facts with the answers so far."""
        gathered = check_facts(json.loads(self._facts), self._hello)
        return gathered._replace(host_key=self._link.host_key, answers=dict(self._answers))
