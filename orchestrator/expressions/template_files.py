"""The files and texts that literal calls of ``template()`` and ``jet()`` render (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orchestrator.expressions.template import Template
from orchestrator.expressions.template_calls import BLOCKS, JINJA, TemplateCall
from orchestrator.language.errors import EvaluationError
from orchestrator.language.files import Directory
from remote_runtime.errors import InputError

if TYPE_CHECKING:
    from orchestrator.language.jinja import LoadedTemplate

TEXT = "template()"
"""What positions call a template that the manifest spells out."""


def loaded_template(directory: Directory, source: str, name: str, lenient: bool) -> LoadedTemplate:
    """The compiled template of a text with blocks, once per run; InputError."""
    from orchestrator.language.jinja import library_of

    library = library_of(directory, lenient)
    if name == TEXT:
        return library.parse(source, name, name)
    return library.parse_file(source, name)


def inline_template(
    source: str, name: str, lenient: bool, added: tuple[str, ...]
) -> Template | None:
    """The template of a text without blocks, for expr-lang; EvaluationError if it is invalid in
    either language, None if only Jinja2 can be meant.
    """
    if any(sign in source for sign in BLOCKS):
        return None
    return Template.parse_file(source, name, lenient, added)


def check_call(directory: Directory, call: TemplateCall, added: Iterable[str]) -> None:
    """Check a literal call without a host; InputError, EvaluationError for an unreadable file.

    ``added`` are names besides those of every scope and of the call.
    """
    names = (*added, *call.names)
    if call.is_jet:
        if call.is_file:
            from orchestrator.language.jet import Delimiters, library_of

            text = directory.read(call.text, literal=True)
            library_of(directory, Delimiters()).parse(text, call.text, added=names)
        return  # a text was checked together with its expression
    name = call.text if call.is_file else TEXT
    source = directory.read(call.text, literal=True) if call.is_file else call.text
    if any(sign in source for sign in JINJA):
        try:
            loaded = loaded_template(directory, source, name, False)
        except InputError:
            if any(sign in source for sign in BLOCKS):
                raise
        else:
            loaded.check(names)
            return
    try:
        Template.parse_file(source, name, False, names)
    except EvaluationError as error:
        raise error.__cause__ or error from error


def texts_of_call(directory: Directory, call: TemplateCall) -> Iterator[str]:
    """The texts of all templates that a literal call can run; EvaluationError, InputError."""
    return (text for _, text in templates_of_call(directory, call))


def templates_of_call(
    directory: Directory, call: TemplateCall, added: Iterable[str] = ()
) -> Iterator[tuple[str, str]]:
    """The name in positions and the text of each template that a literal call can run.

    The arguments are those of ``check_call``. EvaluationError, InputError.
    """
    if call.is_jet:
        if call.is_file:
            from orchestrator.language.jet import Delimiters, library_of

            text = directory.read(call.text, literal=True)
            library = library_of(directory, Delimiters())
            found = library.parse(text, call.text, added=(*added, *call.names))
            yield from ((part.name, part.text) for part in found.reached)
        return
    source = directory.read(call.text, literal=True) if call.is_file else call.text
    name = call.text if call.is_file else TEXT
    if any(sign in source for sign in BLOCKS):
        reached = loaded_template(directory, source, name, False).reached
        yield from ((part.name, part.text) for part in reached)
    else:
        yield name, source
