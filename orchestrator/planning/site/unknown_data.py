"""Names in ``--data`` that nothing in a run reads (controller)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from orchestrator.expressions import EvaluationError, Expression
from orchestrator.expressions.template_files import texts_of_call
from orchestrator.manifest.site import Site
from orchestrator.planning.run_data import INHERIT
from orchestrator.planning.site.manifests import RunManifest, RunSources
from remote_runtime.errors import InputError, Problem
from remote_runtime.text.suggestions import nearest

_KIND = "data.unknown"
_LIKE = "did you mean"
_UNUSED = "it is not defined in any data, and no template reads it"
_WORD = re.compile(r"\w+")
_WHOLE = re.compile(
    r"(?<![\w.'\"])[Dd]ata(?!\s*[\w.\[\"':?])|\blookup\(\s*(?:'data\.?'|\"data\.?\")"
)
"""Matches a use of all data: ``Data | to_json``, ``for key in Data``, ``lookup('data.' ~ key)``."""

_HEADER = "#jinja2:"
_DELIMITER = "left_delimiter"


class ReadingText(NamedTuple):
    """A string that may read data. ``is_code``: all of it may be code, not only the parts between
    the usual delimiters."""

    text: str
    is_code: bool


def unknown_data(texts: Sequence[str], run: RunSources) -> list[Problem]:
    """A warning for each assignment to a name that no data has and no template reads."""
    names = list(dict.fromkeys(text.partition("=")[0] for text in texts))
    containers = run.containers
    unknown = [name for name in names if not any(s.holds(name.split(".")) for s in containers)]
    if not unknown:
        return []
    words = {word for one in reading_texts(run) for word in _WORD.findall(one.text)}
    known_keys = run.known_keys
    problems = []
    for name in unknown:
        top, _, _ = name.partition(".")
        read = name if top in known_keys else top  # templates may read unknown data as a whole
        if not words.issuperset(_WORD.findall(read)):
            problems.append(_warning(name, known_keys))
    return problems


def unknown_overrides(run: RunSources) -> list[Problem]:
    """A warning for each top-level key of an override that no data has and no template reads."""
    known_keys = list(
        dict.fromkeys([*run.files.known_keys(), *(k for one in run.data for k in one.base_keys())])
    )
    unknown = {
        key.position: key
        for source in run.data
        for key in source.keys_of_overrides()
        if key.text not in known_keys
    }
    if not unknown:
        return []
    texts = [one.text for one in reading_texts(run)]
    if any(map(_WHOLE.search, texts)):
        return []  # a template that reads all data may read this
    words = {word for text in texts for word in _WORD.findall(text)}
    problems = []
    for where, key in unknown.items():
        if not words.issuperset(_WORD.findall(key.text)):
            likely = nearest(key.text, known_keys)
            hint = f"{_LIKE} {likely}?" if likely else _UNUSED
            message = f"the key {key.text!r} of an override has no effect"
            problems.append(Problem(message, where, hint, "data.override"))
    return problems


def reading_texts(run: RunSources) -> Iterator[ReadingText]:
    """Yield the strings that may read data, from expressions, manifests and templates."""
    for source in run.containers:
        yield from map(_code, source.expressions())
    for part in run.parts:
        yield from _texts(part)
        for declared in part.site.resources:
            inherited = declared.raw.get(INHERIT)
            names = map(str, inherited if isinstance(inherited, list) else ())
            yield from (ReadingText(name, True) for name in names)


def _warning(name: str, known_keys: list[str]) -> Problem:
    likely = nearest(name, known_keys)
    hint = f"{_LIKE} {likely}?" if likely else _UNUSED
    return Problem(f"--data {name} has no effect", None, hint, _KIND)


def keep_common(sites: Sequence[Site]) -> None:
    """Keep only the warnings that all manifests of a push share, on the first manifest."""
    by_message = [{p.message: p for p in site.warnings if p.kind == _KIND} for site in sites]
    common = (
        [
            name
            for name in by_message[0]
            if all(name in site_warnings for site_warnings in by_message)
        ]
        if by_message
        else []
    )
    for site in sites:
        site.warnings[:] = [p for p in site.warnings if p.kind != _KIND]
    for name in common:  # including a suggestion, if one of them has any
        likely = (
            site_warnings[name]
            for site_warnings in by_message
            if site_warnings[name].hint.startswith(_LIKE)
        )
        sites[0].warnings.append(next(likely, by_message[0][name]))


def _texts(part: RunManifest) -> Iterator[ReadingText]:
    """The expressions of a manifest and its local templates, which may read data."""
    site = part.site
    for assertion in site.assertions:
        yield from map(_code, assertion.expressions())
    for ask in site.asks.values():
        yield from map(_code, ask.expressions())
    if site.resources_template:
        yield from (_of_file(part.text) for part in site.resources_template.reached)
    for declared in site.resources:
        for expression in declared.expressions():
            yield _code(expression)
            for path in expression.controller_files():
                yield _of_file(_read(site.directory.path / path))
            for call in expression.template_calls():
                with suppress(EvaluationError, InputError):  # users of the file report it
                    yield from map(_of_file, texts_of_call(site.directory, call))
        tree = declared.raw.get(declared.type.tree)
        if isinstance(tree, str):
            for file in sorted(site.directory.path.joinpath(tree).rglob("*")):
                text = _of_file(_read(file))
                yield text._replace(is_code=text.is_code or _DELIMITER in declared.raw)


def _code(expression: Expression) -> ReadingText:
    return ReadingText(expression.source, True)


def _of_file(text: str) -> ReadingText:
    """Return the source of a file; its header may name other delimiters."""
    return ReadingText(text, text.startswith(_HEADER))


def _read(path: Path) -> str:
    """The text of a template; an unreadable file is reported by those who use it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    except OSError:
        return ""
