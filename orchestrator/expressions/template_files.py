"""The files and strings that literal calls of ``template()`` and ``jet()`` render (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orchestrator.expressions.scan import BLOCKS, JINJA, TemplateCall
from orchestrator.expressions.template import Template
from orchestrator.language.builtin_names import TEMPLATE_FUNCTIONS
from orchestrator.language.errors import EvaluationError
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.language.jinja import LoadedTemplate
    from orchestrator.language.jinja.template_checks import LiteralCall

TEXT = "template()"
"""The name in positions of a template that is literal in the manifest."""


def loaded_template(directory: Directory, source: str, name: str, lenient: bool) -> LoadedTemplate:
    """Return the template of a string with blocks, compiled once per run; InputError."""
    from orchestrator.language.jinja import library_of

    library = library_of(directory, lenient)
    if name == TEXT:
        return library.parse(source, name, name)
    return library.parse_file(source, name)


def inline_template(
    source: str, name: str, lenient: bool, added: tuple[str, ...]
) -> Template | None:
    """Return the template of a string without blocks, for expr-lang; EvaluationError if it is
    invalid in either language, None if only Jinja2 is possible.
    """
    if any(sign in source for sign in BLOCKS):
        return None
    return Template.parse_file(source, name, lenient, added)


def check_call(
    directory: Directory, call: TemplateCall, added: Iterable[str], spares_missing: bool = False
) -> None:
    """Check a literal call without a host; InputError, EvaluationError for an unreadable file.

    ``added`` has names in addition to those of every scope and of the call. ``spares_missing``:
    files that the template itself names may be missing.
    """
    _Check(directory, spares_missing).call(call, (*added, *call.names))


class _Check:
    """Checks a call with all literal calls in its templates."""

    def __init__(self, directory: Directory, spares_missing: bool) -> None:
        self._directory = directory
        self._spares_missing = spares_missing
        self._seen: set[tuple[TemplateCall, frozenset[str]]] = set()

    def call(self, call: TemplateCall, names: tuple[str, ...]) -> None:
        """See ``check_call``; each call is checked once with the same names."""
        if (call, frozenset(names)) in self._seen:
            return
        self._seen.add((call, frozenset(names)))
        if call.is_jet:
            if call.is_file:
                _jet_file(self._directory, call, names)
            return  # a literal string was checked together with its expression
        source, name = _source(self._directory, call)
        if any(sign in source for sign in JINJA):
            try:
                loaded = loaded_template(self._directory, source, name, False)
            except InputError:
                if any(sign in source for sign in BLOCKS):
                    raise
            else:
                loaded.check(names)
                self._calls(loaded, names)
                return
        try:
            Template.parse_file(source, name, False, names)
        except EvaluationError as error:
            raise error.__cause__ or error from error

    def _calls(self, loaded: LoadedTemplate, names: tuple[str, ...]) -> None:
        """Check the literal calls in a template and in the templates of its tags; InputError."""
        problems: list[Problem] = []
        for part in loaded.reached:
            for found in part.facets.calls:
                below = _below(found)
                try:
                    if below is not None:
                        self.call(below, (*names, *found.names))
                    elif not found.text.startswith("/"):  # else it is the target's
                        self._directory.read(found.text, literal=True)
                except InputError as error:
                    problems += error.problems
                except EvaluationError as error:
                    if found.sure and not self._spares_missing:
                        problem = part.problem(error.message, "check the path", found.offset)
                        problems.append(loaded.led_to(part, problem))
        if problems:
            raise InputError(problems)


def _below(found: LiteralCall) -> TemplateCall | None:
    """Return a call of another template; None for a call that reads a file."""
    is_template = found.function in TEMPLATE_FUNCTIONS
    return TemplateCall(found.function, found.text, found.names) if is_template else None


def texts_of_call(directory: Directory, call: TemplateCall) -> Iterator[str]:
    """Yield the text of each template that a literal call can run; EvaluationError, InputError."""
    return (text for _, text in templates_of_call(directory, call))


def templates_of_call(
    directory: Directory, call: TemplateCall, added: Iterable[str] = ()
) -> Iterator[tuple[str, str]]:
    """The name (as used in positions) and the text of each template that a literal call can run.

    The arguments are those of ``check_call``. EvaluationError, InputError.
    """
    yield from _templates(directory, call, (*added, *call.names), {call})


def _templates(
    directory: Directory, call: TemplateCall, names: tuple[str, ...], seen: set[TemplateCall]
) -> Iterator[tuple[str, str]]:
    """The templates of a call; ``seen`` has the calls that were already visited."""
    if call.is_jet:
        if call.is_file:
            reached = _jet_file(directory, call, names)
            yield from ((part.name, part.text) for part in reached)
        return
    source, name = _source(directory, call)
    try:
        loaded = loaded_template(directory, source, name, False) if "{" in source else None
    except InputError:
        if any(sign in source for sign in BLOCKS):
            raise
        loaded = None
    if loaded is None:
        yield name, source
        return
    for part in loaded.reached:
        yield part.name, part.text
        for found in part.facets.calls:
            below = _below(found)
            if below is not None and below not in seen:
                seen.add(below)
                with suppress(EvaluationError, InputError):  # which ``check_call`` reports
                    yield from _templates(directory, below, (*names, *found.names), seen)


def _source(directory: Directory, call: TemplateCall) -> tuple[str, str]:
    """The text of a template and its name in positions; EvaluationError."""
    if call.is_file:
        return directory.read(call.text, literal=True), call.text
    return call.text, TEXT


def _jet_file(directory: Directory, call: TemplateCall, names: tuple[str, ...]) -> Any:
    """The Jet templates that a call of a file can run; EvaluationError, InputError."""
    from orchestrator.language.jet import Delimiters, library_of

    text = directory.read(call.text, literal=True)
    return library_of(directory, Delimiters()).parse(text, call.text, added=names).reached
