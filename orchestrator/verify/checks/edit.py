"""edit: the lines, blocks and settings of a text file, read again (controller)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from orchestrator.language.filters.regex import Search, regex_replace
from orchestrator.verify.expectation import Expectation, Host
from orchestrator.verify.paths import kind, of_kind
from orchestrator.verify.subject import Subject

_KINDS = ("line", "block", "settings", "replace")
_MARKER = "# {mark} managed by ccm"
_ABSENT = "absent"
_EXPECTED = {
    "line": "the declared line",
    "block": "the declared block",
    "settings": "the declared settings",
    "replace": "no line to replace",
}

Judge = Callable[[list[str]], str]


def expectations(subject: Subject) -> list[Expectation]:
    """One expectation for each edit of the file to which the path resolves."""
    several = subject.get("edits")
    path, ensure = subject.name, subject.get("ensure", "present")
    gates = [of_kind(path, "a file", follow=True)] if several or ensure != _ABSENT else []
    if several is None:
        return [*gates, _of_edit(path, subject.properties, "")]
    numbered = enumerate(several, start=1)
    return gates + [_of_edit(path, spec, f"edit {number} ") for number, spec in numbered]


def _of_edit(path: str, spec: Mapping[str, Any], prefix: str) -> Expectation:
    """The expectation for one edit; ``find`` returns how the file differs, or ""."""
    name = next((one for one in _KINDS if spec.get(one) is not None), "line")
    removed = spec.get("ensure") == _ABSENT
    judge = {"line": _line, "block": _block, "settings": _settings, "replace": _replaced}[name]
    return Expectation(
        prefix + name,
        "absent" if removed else _EXPECTED[name],
        find=lambda host: judge(spec, removed)(_lines(host, path)),
        holds=lambda found: not found,
    )


def _lines(host: Host, path: str) -> list[str]:
    """The lines of the file without their ends; none if there is no file."""
    if kind(host, path, follow=True) == "nothing":
        return []
    text = host.file(path).content.decode("utf-8", "surrogateescape")
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return lines if lines[-1] else lines[:-1]


def _line(spec: Mapping[str, Any], removed: bool) -> Judge:
    """Whether a line equals it or, if it must be absent, no line equals it or matches."""
    line, match = spec.get("line"), spec.get("match")

    def judge(lines: list[str]) -> str:
        """The problems of the lines."""
        if not removed:
            return "" if line in lines else "no such line"
        found = [text for text in lines if (text == line if match is None else _is_in(match, text))]
        return f"{len(found)} such lines" if found else ""

    return judge


def _is_in(pattern: str, text: str) -> bool:
    """Whether a pattern matches in a line."""
    return Search(text, _as_re2(pattern)).first() is not None


def _as_re2(pattern: str) -> str:
    r"""The pattern with the end of a line in RE2's syntax: ``\z``."""
    return pattern.replace("\\\\", "\0").replace("\\Z", "\\z").replace("\0", "\\\\")


def _block(spec: Mapping[str, Any], removed: bool) -> Judge:
    """Whether the lines between the markers are those of the block, or whether there
    are no markers.
    """
    marker = str(spec.get("marker") or _MARKER)
    begin, end = (marker.replace("{mark}", word) for word in ("BEGIN", "END"))
    wanted = str(spec["block"]).replace("\r\n", "\n").removesuffix("\n").split("\n")

    def judge(lines: list[str]) -> str:
        """The problems of the lines."""
        if begin not in lines or end not in lines:
            return "" if removed else "no block"
        if removed:
            return "a block"
        found = lines[lines.index(begin) + 1 : lines.index(end)]
        return "" if found == wanted else "another block"

    return judge


def _replaced(spec: Mapping[str, Any], removed: bool) -> Judge:
    """Whether replacing again changes no line."""
    match, new = _as_re2(str(spec["match"])), str(spec["replace"])

    def judge(lines: list[str]) -> str:
        """The problems of the lines."""
        left = [line for line in lines if regex_replace(line, match, new) != line]
        return f"lines with a match: {len(left)}" if left else ""

    return judge


def _settings(spec: Mapping[str, Any], removed: bool) -> Judge:
    """Whether the first line of each key has its value, or all lines of a key have
    those of a list.
    """
    form = str(spec.get("format") or "ini")
    wanted = list(_wanted(spec["settings"]))

    def judge(lines: list[str]) -> str:
        """The problems of the lines."""
        found = list(_assignments(lines, form))
        wrong = [
            key
            for section, key, value in wanted
            if not _agrees(
                [one for where, name, one in found if _same((where, name), (section, key), form)],
                None if removed else value,
            )
        ]
        return f"other values of {', '.join(wrong)}" if wrong else ""

    return judge


def _wanted(settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The section, key and value of each setting."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from ((key, inner, one) for inner, one in value.items())
        else:
            yield "", key, value


def _assignments(lines: list[str], form: str) -> Iterator[tuple[str, str, str]]:
    """The section, key and value of each line that sets something."""
    section = ""
    for line in map(str.strip, lines):
        if not line or line.startswith(("#", ";") if form == "ini" else "#"):
            continue
        if form == "ini" and line.startswith("[") and "]" in line:
            section = line[1:].partition("]")[0].strip()
            continue
        if form == "ssh" and line.lower().split()[0] in ("match", "host"):
            section = line
            continue
        if form == "key=value":
            line = line.removeprefix("export ").strip()
        if form == "ssh" and "=" in line and " " not in line.partition("=")[0].strip():
            line = line.replace("=", " ", 1)
        key, _, value = line.partition("=" if form in ("ini", "key=value") else " ")
        if form in ("key value", "ssh"):
            key, value = [*line.split(None, 1), ""][:2]
        yield section, key.strip(), value.strip()


def _same(values: tuple[str, str], wanted: tuple[str, str], form: str) -> bool:
    """Whether a line sets a key; keys and sections of ssh are compared without regard
    to case and spaces.
    """
    if form != "ssh":
        return values == wanted
    (section, key), (in_section, name) = values, wanted
    return key.lower() == name.lower() and _words(section) == _words(in_section)


def _words(section: str) -> list[str]:
    """The normalized name of an ssh section."""
    first, *others = [*section.replace("=", " ", 1).split(), ""]
    return [first.lower(), *others]


def _agrees(values: list[str], value: Any) -> bool:
    """Whether a key has the desired values; None means that it has no value."""
    if value is None:
        return not values
    if isinstance(value, list):
        return values == [_text(one) for one in value]
    return values[:1] == [_text(value)]


def _text(value: Any) -> str:
    """A value in the format of the file."""
    return str(value).lower() if isinstance(value, bool) else str(value)
