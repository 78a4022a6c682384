"""The data that whole templates read by name, with the positions in the templates (controller)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from orchestrator.expressions import EvaluationError
from orchestrator.expressions.template_files import templates_of_call
from orchestrator.language.builtin_names import LOOP_VARIABLES
from orchestrator.language.cursor import Positions
from orchestrator.manifest.site import Site
from remote_runtime.errors import InputError, Position

_CODE = re.compile(
    r"\{#.*?#\}|\{%[-+]?\s*raw\b.*?\{%[-+]?\s*endraw\b|\{\{(?P<value>.*?)\}\}|\{%(?P<block>.*?)%\}",
    re.DOTALL,
)
_FOR = re.compile(r"[-+]?\s*for\b.+?\bin\b(?!.*\bif\b)", re.DOTALL)
_NAMED = re.compile(r"\b[Dd]ata\.([A-Za-z_]\w*)")
_HEADER = "#jinja2:"

Reads = Callable[[str], Iterator[str]]
"""The paths that an expression needs; none for one with optional parts."""


def template_reads(site: Site, reads: Reads) -> Iterator[tuple[str, Position]]:
    """Each path of data that a whole template of the manifest needs, with its position.

    Only templates with literal names are included. A value that any block of these templates tests
    is optional in all of them. Jet templates are omitted.
    """
    for declared in site.resources:
        for expression in declared.expressions():
            for call in expression.template_calls():
                if call.is_jet or not call.is_file:
                    continue
                with suppress(EvaluationError, InputError):  # reported where the template is used
                    yield from _reads_in(
                        list(templates_of_call(site.directory, call, LOOP_VARIABLES)), reads
                    )


def _reads_in(templates: list[tuple[str, str]], reads: Reads) -> Iterator[tuple[str, Position]]:
    positioned: list[tuple[str, Position]] = []
    tested: set[str] = set()
    for name, text in templates:
        place = Positions(name, text)
        for match in _CODE.finditer("" if text.startswith(_HEADER) else text):
            code = match["value"] or _FOR.sub("", match["block"] or "")
            paths = list(reads(code))
            positioned += [(path, place.of(match.start())) for path in paths]
            if not paths:
                tested.update(_NAMED.findall(code))
    return ((path, where) for path, where in positioned if path.partition(".")[0] not in tested)
