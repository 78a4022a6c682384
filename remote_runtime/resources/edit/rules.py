"""The rules for an edit in addition to its schema (both sides)."""

from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.resources.edit.document import Place
from remote_runtime.resources.edit.line_edits import (
    MARK,
    MARKER,
    BlockEdit,
    LineEdit,
    Replacement,
    marks_of,
    texts_of,
)
from remote_runtime.resources.edit.setting_edits import FORMATS, Grammar, SettingsEdit, text_of
from remote_runtime.text.linear_regex import Pattern, Template
from remote_runtime.validation import rules

KINDS = ("line", "block", "settings", "replace")
_OPTIONS: Dict[str, Sequence[str]] = {
    "line": ("match", "after", "before"),
    "block": ("marker", "after", "before"),
    "settings": ("format",),
    "replace": ("match",),
}
KEYS = (*KINDS, "match", "after", "before", "marker", "format")
_WHICH = "set one of line, block, settings, replace or edits"
_SSHD = ("/sshd_config", "/ssh_config")

Spec = Mapping[str, Any]
Problem = Tuple[str, str]


def edit_of(spec: Spec) -> Any:
    """Return the object that applies an edit. ``ValueError`` describes a mistake in it."""
    kind, get = kind_of(spec), spec.get
    if kind == "settings":
        return SettingsEdit(spec["settings"], get("format") or FORMATS[0])
    if kind == "replace":
        return Replacement(spec["match"], spec["replace"])
    place = Place(get("after"), get("before"))
    if kind == "block":
        return BlockEdit(spec["block"], get("marker") or MARKER, place)
    return LineEdit(get("line"), get("match"), place)


def specs_of(properties: Spec) -> List[Spec]:
    """Return the edits of a resource, none if it only has a name."""
    several = properties.get("edits")
    if several is not None:
        return list(several)
    own = {key: properties[key] for key in (*KEYS, "ensure") if properties.get(key) is not None}
    return [own] if kind_of(own) else []


def kind_of(spec: Spec) -> str:
    """Which of ``KINDS`` an edit is, "" for none; lines to remove may have only a match."""
    for kind in KINDS:
        if spec.get(kind) is not None:
            return kind
    return "line" if spec.get("ensure") == "absent" and spec.get("match") is not None else ""


def problems(name: str, properties: Spec) -> List[Problem]:
    """Each violated rule as (property, message)."""
    problems = [("name", message) for message in rules.of_path(name)]
    if properties.get("validate") is not None:
        messages = rules.of_validation(str(properties["validate"]))
        problems += [("validate", message) for message in messages]
    own = [key for key in KEYS if properties.get(key) is not None]
    several = properties.get("edits")
    if several is None:
        spec = dict({key: properties[key] for key in own}, ensure=properties.get("ensure"))
        return problems + list(_of_edit(spec))
    if own:
        problems.append((own[0], "%s belongs in the entries of edits" % own[0]))
    if properties.get("ensure") == "absent":
        problems.append(("ensure", "write ensure: absent in the entries of edits"))
    for at, spec in enumerate(several):
        for key, message in _of_edit(spec):
            where = "entry %d" % (at + 1)
            problems.append(
                ("edits", "%s: %s" % (where, "%s: %s" % (key, message) if key else message))
            )
    return problems


def _of_edit(spec: Spec) -> Iterator[Problem]:
    kinds = [kind for kind in KINDS if spec.get(kind) is not None]
    kind = kind_of(spec)
    if len(kinds) != 1 and not (kind and not kinds):
        both = "%s cannot be combined; use edits" % " and ".join(kinds)
        yield (kinds[1], both) if kinds else ("", _WHICH)
        return
    for key in KEYS:
        if key not in KINDS and spec.get(key) is not None and key not in _OPTIONS[kind]:
            yield key, "it has no effect with %s" % kind
    if spec.get("after") is not None and spec.get("before") is not None:
        yield "before", "after and before are mutually exclusive"
    for key in ("match", "after", "before"):
        if isinstance(spec.get(key), str):
            for message in rules.of_text(Pattern, spec[key]):
                yield key, message
    check: Callable[[Spec], Iterator[Problem]] = {
        "line": _of_line,
        "block": _of_block,
        "settings": _of_settings,
        "replace": _of_replace,
    }[kind]
    yield from check(spec)


def _of_line(spec: Spec) -> Iterator[Problem]:
    line = spec.get("line")
    if isinstance(line, str):
        for message in _of_text(
            line, "a line must not contain a line break; use block for several lines"
        ):
            yield "line", message


def _of_block(spec: Spec) -> Iterator[Problem]:
    marker = str(spec.get("marker") or MARKER)
    if MARK not in marker or not marker.replace(MARK, "").strip():
        yield "marker", "it must contain %s and other text, such as %r" % (MARK, MARKER)
    for message in _of_text(marker, "a marker is one line"):
        yield "marker", message
    block = str(spec["block"])
    if not block.strip("\r\n") and spec.get("ensure") != "absent":
        yield "block", "it is empty; use ensure: absent to remove a block"
    if set(texts_of(block)) & set(marks_of(marker)):
        yield "block", "it contains a line that is one of its markers"
    if "\0" in block:
        yield "block", "it contains a NUL character"


def _of_replace(spec: Spec) -> Iterator[Problem]:
    if spec.get("ensure") == "absent":
        yield (
            "ensure",
            "replace does not support ensure: absent; an empty text removes the matches of match",
        )
    match, text = spec.get("match"), str(spec["replace"])
    if match is None:
        yield "replace", "it requires match, the pattern to replace"
    for message in _of_text(
        text, "a replacement must not contain a line break; use block for several lines"
    ):
        yield "replace", message
    if isinstance(match, str) and not rules.of_text(Pattern, match):
        for message in rules.of_text(lambda one: Template(one, Pattern(match)), text):
            yield "replace", message


def _of_text(text: str, advice: str) -> Iterator[str]:
    if "\n" in text or "\r" in text:
        yield advice
    elif "\0" in text:
        yield "it contains a NUL character"


def _of_settings(spec: Spec) -> Iterator[Problem]:
    kind = str(spec.get("format") or FORMATS[0])
    settings = spec["settings"]
    if kind not in FORMATS or not isinstance(settings, dict):
        return  # the schema refuses it
    if not settings:
        yield "settings", "it is empty; give at least one key with its value"
    for key, value in settings.items():
        if not isinstance(value, dict):
            yield from _of_setting(key, value, kind)
            continue
        if kind not in ("ini", "ssh"):
            yield "settings", "%s: the format %r has no sections" % (key, kind)
            continue
        if Grammar(kind).header(Grammar(kind).header_line(key)) is None or "\n" in key:
            example = (
                "a line such as Match User backup"
                if kind == "ssh"
                else "a name without ] or a line break"
            )
            yield "settings", "%r is not a valid section name; use %s" % (key, example)
        elif not key.strip() and not value:
            yield "settings", "a section without a name and without keys manages nothing"
        for inner, one in value.items():
            yield from _of_setting(inner, one, kind, key)


def _of_setting(key: str, value: Any, kind: str, section: str = "") -> Iterator[Problem]:
    grammar = Grammar(kind)
    where = "%s: %s" % (section, key) if section else key
    entry = grammar.entry("%s%sx" % (key, grammar.separator), 0)
    if entry is None or entry.key != key or entry.value != "x" or "\n" in key:
        yield "settings", "%r is not a key of the format %r" % (where, kind)
    for one in value if isinstance(value, list) else [value]:
        text = "" if one is None else text_of(one)
        if "\n" in text or "\r" in text or "\0" in text:
            yield "settings", "%s: a value must not contain a line break or NUL" % where
        elif text != text.strip():
            yield "settings", "%s: the value begins or ends with whitespace" % where


def warnings(name: str, properties: Spec) -> List[Tuple[str, str, str]]:
    """Return settings that are allowed but probably a mistake, as (property, message, hint)."""
    warnings: List[Tuple[str, str, str]] = []
    several = properties.get("edits")
    if several is not None and not isinstance(several, list):
        return []
    for at, spec in enumerate(specs_of(properties)):
        if not isinstance(spec, dict):
            continue
        for key, message, hint in _doubts_of(name, spec):
            if several is not None:
                key, message = "edits", "entry %d: %s: %s" % (at + 1, key, message)
            warnings.append((key, message, hint))
    return warnings


def _doubts_of(name: str, spec: Spec) -> Iterator[Tuple[str, str, str]]:
    kind, pattern = kind_of(spec), _pattern(spec.get("match"))
    line, text = spec.get("line"), spec.get("replace")
    removed = spec.get("ensure") == "absent"
    is_line = kind == "line" and isinstance(line, str) and not removed
    if is_line and pattern and not pattern.matches(str(line)):
        message = "it does not match the line itself: %r" % line
        yield "match", message, "write a pattern that matches the old line and the new one"
    if (
        kind == "replace"
        and pattern
        and isinstance(text, str)
        and not rules.of_text(lambda one: Template(one, pattern), text)
    ):
        template = Template(text, pattern)
        if template.is_plain and pattern.replaced(template.plain(), template) != template.plain():
            message = "the pattern also matches the replacement, so every run would change it again"
            yield "match", message, "write a pattern that does not match its own result"
    if kind == "settings" and name.endswith(_SSHD) and spec.get("format") != "ssh":
        message = "keys in this file are case-insensitive, and it has Match and Host sections"
        yield "settings", message, "set format: ssh"


def _pattern(text: Any) -> Optional[Pattern]:
    if not isinstance(text, str) or rules.of_text(Pattern, text):
        return None
    return Pattern(text)
