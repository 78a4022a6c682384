"""Ansible's header line of a template, ``#jinja2: trim_blocks: False`` (controller)."""

import ast
import re
from typing import Any, NamedTuple

from orchestrator.language.jinja.environment import Settings

_HEADER = re.compile(r"#jinja2:([^\n]*)(\n|\Z)")
_PAIR = re.compile(r"\s*(\w+)\s*:\s*('[^']*'|\"[^\"]*\"|\w+)\s*(?:,|\Z)")
_BLANKS = re.compile(r"[ \t]+(?=\{[%#](?!\+))")
"""White space before a block or a comment, unless the tag has a plus sign, which keeps it."""
_FLAGS = ("trim_blocks", "lstrip_blocks")
_BEGIN, _END = "variable_start_string", "variable_end_string"
KNOWN = (*_FLAGS, _BEGIN, _END)


class TemplateHeader(NamedTuple):
    """A template with its header as a comment, and the settings of the header.

    ``problem`` is its problem, "" for none.
    """

    text: str
    settings: Settings
    problem: str = ""


def split_header(text: str, settings: Settings) -> TemplateHeader:
    """Return the template of a string that may start with such a line; others are unchanged."""
    match = _HEADER.match(text)
    if match is None:
        return TemplateHeader(text, settings)
    found: dict[str, bool | str] = {}
    at = 0
    while match[1][at:].strip():
        pair = _PAIR.match(match[1], at)
        if pair is None:
            return TemplateHeader(
                text, settings, f"expected a setting at {match[1][at:].strip()[:40]!r}"
            )
        at = pair.end()
        value = _value(pair[2])
        if pair[1] not in KNOWN or isinstance(value, bool) != (pair[1] in _FLAGS):
            return TemplateHeader(text, settings, f"{pair[1]}: {pair[2]} is not supported")
        found[pair[1]] = value
    if (_BEGIN in found) != (_END in found) or "" in (found.get(_BEGIN), found.get(_END)):
        return TemplateHeader(text, settings, f"{_BEGIN} and {_END} require each other")
    flags: dict[str, Any] = {name: found[name] for name in _FLAGS if name in found}
    own = settings._replace(**flags)
    if _BEGIN in found:
        own = own._replace(delimiters=(str(found[_BEGIN]), str(found[_END])))
    # The line end goes with the comment, and lines keep their numbers.
    line, body = re.sub("[{}#]", "-", match[1]), text[match.end() :]
    if own.trim_blocks:
        return TemplateHeader(f"{{#{line}#}}\n{body}", own)
    # The first line does not begin a line for Jinja2, which therefore keeps its blanks.
    blanks = _BLANKS.match(body) if own.lstrip_blocks else None
    left = blanks.end() if blanks else 0
    return TemplateHeader(f"{{#{line}\n{' ' * (left - 2)}#}}{body[left:]}", own)


def _value(text: str) -> bool | str:
    if text[0] in "'\"":
        text = str(ast.literal_eval(text)) if "\\" not in text else text[1:-1]
    return {"true": True, "false": False, "yes": True, "no": False}.get(text.lower(), text)
