"""Lookups of a host across its manifests, and their answers (controller)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.expressions import EvaluationError, Scope
from orchestrator.fleet.host.host_facts import Question
from orchestrator.language.errors import NEEDS_ANSWERS, FactsUnavailableError, NoAnswerError
from orchestrator.language.lookup_answers import Answers
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.site import Site
from remote_runtime.errors import Problem
from remote_runtime.reporting.masking import SHORTEST

if TYPE_CHECKING:
    from orchestrator.manifest.lookups import Ask, Asks

_DATA = r"\b[Dd]ata\b"
_NOBODY = "this command contacts no host"
_NOT_RUN = "none of the resources in its manifest run"


def key_of(question: Question) -> str:
    """The key of an answer: equal questions in two places are sent once."""
    return json.dumps(question, sort_keys=True)


class Lookups:
    """The lookups of one host: ``answers`` by ``key_of`` their questions; None if no host is
    contacted.

    ``open`` are the questions without an answer.
    """

    def __init__(self, answers: Mapping[str, Mapping[str, Any]] | None) -> None:
        self.answers = answers
        self.open: dict[str, Question] = {}

    def of(self, asks: Asks, managed: bool = True) -> ManifestLookups:
        """Return the lookups of one manifest; none are sent unless it is ``managed``."""
        return ManifestLookups(asks, self, managed) if asks else NO_LOOKUPS


class ManifestLookups:
    """The lookups of a manifest where it is applied; its templates see ``asked``.

    ``questions`` has the rendered lookups by name; the others could not be rendered because of
    ``problems``.
    """

    def __init__(self, asks: Asks, of_host: Lookups, managed: bool) -> None:
        self._asks = asks
        self._of_host = of_host
        self._managed = managed
        self._scope: Scope | None = None
        self.questions: dict[str, Question] = {}
        self.problems: list[Problem] = []
        self.warnings: list[str] = []
        self.asked = Answers(asks, self._find)

    def see(self, scope: Scope) -> None:
        """Set the scope in which the lookups themselves are rendered."""
        self._scope = scope._replace(lenient=False)

    def collect(self) -> None:
        """Resolve every answer, so that all questions are asked at once."""
        self.problems, self.warnings = [], []
        for name in self._asks if self._managed else ():
            try:
                self.asked[name]
            except NoAnswerError as error:
                if error.kind == NoAnswerError.default_kind and not self._of_host.open:
                    self.warnings.append(error.message)
            except EvaluationError as error:
                where = error.where or self._asks[name].where
                message = error.message.removeprefix(f"{self._asks[name].told}: ")
                message = f"{self._asks[name].told}: {message}"
                self.problems.append(Problem(message, where, error.hint, error.kind))

    def _find(self, name: str) -> Any:
        if not self._managed:
            raise NoAnswerError(name, _NOT_RUN)
        assert self._scope is not None
        if self._of_host.answers is None:
            with suppress(FactsUnavailableError):  # the question may need the host, too
                self._asks[name].question(self._scope)
            raise NoAnswerError(name, _NOBODY, NEEDS_ANSWERS)
        ask = self._asks[name]
        question = self.questions[name] = ask.question(self._scope)
        key = key_of(question)
        answer = self._of_host.answers.get(key)
        if answer is None:
            self._of_host.open[key] = question
            raise NoAnswerError(name, "the host has not answered yet")
        if "error" in answer:
            raise NoAnswerError(name, str(answer["error"]))
        self._hide(ask, answer)
        return dict(answer)

    def _hide(self, ask: Ask, answer: Mapping[str, Any]) -> None:
        """Mask the result of a lookup if its manifest requires it, as a whole and line by line."""
        assert self._scope is not None
        for text in answer.values() if ask.sensitive else ():
            if isinstance(text, str):
                pieces = (text, text.strip(), *map(str.strip, text.splitlines()))
                hidden = (piece for piece in pieces if len(piece) >= SHORTEST)
                self._scope.environ.secrets_read.update(dict.fromkeys(hidden))


NO_LOOKUPS = ManifestLookups({}, Lookups(None), False)


class Reads:
    """The lookups that the entries of a manifest read, found in their text: possibly too many, but
    never too few. The same for all hosts.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: dict[DeclaredResource, tuple[tuple[str, ...], bool]] = {}
        of_data = [one.source for one in site.source.expressions()]
        self._of_data = self._names(of_data)

    def of(self, declared: DeclaredResource) -> tuple[tuple[str, ...], bool]:
        """The names that an entry reads, and whether it reads data."""
        if declared not in self._known:
            from orchestrator.planning.site.expression_sources import texts_behind

            sources = [expression.source for expression in declared.expressions()]
            texts = list(texts_behind(sources, self._site.directory.path, (declared,)))
            reads_data = _reads_data(texts)
            of_data = self._of_data if reads_data else ()
            names = self._names([*texts, *(f"Asked.{name}" for name in of_data)])
            self._known[declared] = names, reads_data
        return self._known[declared]

    def of_control(self, declared: DeclaredResource) -> tuple[str, ...]:
        """The names that decide whether an entry is managed."""
        expressions = declared.control.expressions() if declared.control else []
        sources = [expression.source for expression in expressions]
        of_data = self._of_data if _reads_data(sources) else ()
        return self._names([*sources, *(f"Asked.{name}" for name in of_data)])

    def _names(self, texts: Sequence[str]) -> tuple[str, ...]:
        from orchestrator.manifest.checks.lookups import names_read

        names = dict.fromkeys(name for text in texts for name in names_read(text))
        asks = self._site.asks
        return tuple(asks) if "" in names else tuple(name for name in asks if name in names)


def _reads_data(texts: Iterable[str]) -> bool:
    return any(re.search(_DATA, text) for text in texts)


def entries(names: Sequence[str], look_ups: ManifestLookups) -> Iterator[dict[str, Any]]:
    """The entries for the lookups of these names in a plan."""
    for name in names:
        if name in look_ups.questions:
            yield {"name": name, **look_ups.questions[name]}
