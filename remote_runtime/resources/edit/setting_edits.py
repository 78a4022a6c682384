"""Settings in files of four grammars: keys with values, in sections or without (target).

Comments, order and spacing are kept. The value is all text after the separator, including a
comment, because the grammars differ in how they treat comments there.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.resources.edit.document import Document

FORMATS = ("ini", "key=value", "key value", "ssh")
_SSH_SECTIONS = ("match", "host")
_QUOTES = ("'", '"')


class Entry(NamedTuple):
    """A line that sets a key: its text is ``prefix + key + separator + value + suffix``.

    ``at`` is its number, ``last`` the number of the last line of its value.
    """

    at: int
    last: int
    prefix: str
    key: str
    separator: str
    value: str
    suffix: str


class Section(NamedTuple):
    """A part of a file: its header is the line ``first - 1``, except for lines above all headers.

    ``end`` is the number after its last line.
    """

    name: str
    first: int
    end: int
    entries: List[Entry]


class Grammar(object):
    """The syntax of sections, comments and entries in a format."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.by_blank = kind in ("key value", "ssh")
        self.separator = {"ini": " = ", "key=value": "="}.get(kind, " ")
        self._comments = ("#", ";") if kind == "ini" else ("#",)

    def header(self, text: str) -> Optional[str]:
        """The name of the section that a line begins, None for other lines."""
        line = text.strip()
        if self.kind == "ini" and line.startswith("[") and "]" in line:
            name, _, rest = line[1:].partition("]")
            if not rest.strip() or rest.strip().startswith(self._comments):
                return name.strip()
        if self.kind == "ssh" and line.split(None, 1)[:1]:
            word = line.split(None, 1)[0].partition("=")[0].lower()
            if word in _SSH_SECTIONS:
                return self.section_name(line)
        return None

    def section_name(self, name: str) -> str:
        """A name in the form used for comparison."""
        if self.kind != "ssh":
            return name
        words = name.replace("=", " ", 1).split()
        return " ".join([words[0].lower(), *words[1:]]) if words else ""

    def header_line(self, name: str) -> str:
        """The line that begins a section."""
        return name if self.kind == "ssh" else "[%s]" % name

    def same(self, one: str, other: str) -> bool:
        """Return whether two keys are equal."""
        return one.lower() == other.lower() if self.kind == "ssh" else one == other

    def is_comment(self, text: str) -> bool:
        """Return whether a line is a comment."""
        return text.lstrip().startswith(self._comments)

    def uncommented(self, text: str) -> str:
        """Return the text of a comment without its comment sign."""
        return text.lstrip().lstrip("".join(self._comments)).lstrip()

    def entry(self, text: str, at: int) -> Optional[Entry]:
        """The entry on a line, None for other lines."""
        body = text.strip()
        if not body or self.is_comment(text):
            return None
        start = text.index(body)
        prefix, suffix = text[:start], text[start + len(body) :]
        if self.kind == "key=value" and body.startswith("export") and body[6:7].isspace():
            rest = body[6:].lstrip()
            prefix, body = prefix + body[: len(body) - len(rest)], rest
        key, separator, value = self._split(body)
        if not key or (self.kind == "key=value" and (not separator or " " in key)):
            return None
        return Entry(
            at,
            at,
            prefix=prefix,
            key=key,
            separator=separator,
            value=value,
            suffix=suffix,
        )

    def _split(self, body: str) -> Tuple[str, str, str]:
        if self.by_blank:
            signs = " \t=" if self.kind == "ssh" else " \t"
            end = next((at for at, char in enumerate(body) if char in signs), len(body))
        else:
            end = body.find("=") if "=" in body else len(body)
        key = body[:end].rstrip()
        rest = body[len(key) :]
        value = rest.lstrip(" \t")
        if (value.startswith("=") and self.kind == "ssh") or not self.by_blank:
            value = value[1:].lstrip(" \t")
        return key, rest[: len(rest) - len(value)], value


def sections_of(document: Document, grammar: Grammar) -> List[Section]:
    """The sections of a file; the first has the lines above all headers, and no name."""
    sections = [Section("", 0, 0, [])]
    texts, at = document.texts, 0
    while at < len(texts):
        name = grammar.header(texts[at])
        entry = None if name is not None else grammar.entry(texts[at], at)
        last = at if entry is None else _last_line(texts, grammar, entry)
        if name is not None:
            sections.append(Section(name, at + 1, at + 1, []))
        elif entry is not None:
            sections[-1].entries.append(entry._replace(last=last))
        at = last + 1
        sections[-1] = sections[-1]._replace(end=at)
    return sections


def _last_line(texts: Sequence[str], grammar: Grammar, entry: Entry) -> int:
    """Return the number of the last line of an entry's value."""
    at = entry.at
    if grammar.by_blank:
        return at
    quote = entry.value[:1]
    if grammar.kind == "key=value" and quote in _QUOTES and quote not in entry.value[1:]:
        for later in range(at + 1, len(texts)):
            if quote in texts[later]:
                return later
        return at
    while texts[at].endswith("\\") and at + 1 < len(texts):
        at += 1
    if grammar.kind == "ini" and not entry.prefix:
        while at + 1 < len(texts) and _goes_on(texts[at + 1], grammar):
            at += 1
    return at


def _goes_on(text: str, grammar: Grammar) -> bool:
    """Return whether a line is indented and not a setting, as in Python's configuration files."""
    indented = text[:1] in (" ", "\t") and text.strip()
    return bool(indented) and "=" not in text and not grammar.is_comment(text)


def spaced(entry: Entry) -> str:
    """The separator of an entry. For an entry without a value, the space after the sign is unknown,
    so the space before it is used.
    """
    before = entry.separator[: len(entry.separator) - len(entry.separator.lstrip())]
    return entry.separator if entry.value else entry.separator.rstrip() + before


class SettingsEdit(object):
    """Values of keys: a single value for the first line of a key, a list for all of its lines, or
    no value.

    ``settings`` maps keys to values, and sections to such maps.
    """

    def __init__(self, settings: Mapping[str, Any], kind: str) -> None:
        self._grammar = Grammar(kind)
        self._wanted = list(_flat(settings))

    def present(self, document: Document) -> None:
        """Set the keys. ``ValueError`` if a multi-line value would change."""
        for section, key, values in self._wanted:
            if key:
                self._set(document, section, key, values)
            elif self._section(document, section) is None:
                self._add_section(document, section, [])

    def absent(self, document: Document) -> None:
        """Remove the keys, and the sections that are named without keys."""
        for section, key, _ in self._wanted:
            if key:
                self._set(document, section, key, None)
                continue
            for one_section in reversed(self._sections(document, section) if section else []):
                document.remove(one_section.first - 1, self._end_of(document, one_section))

    def _end_of(self, document: Document, section: Section) -> int:
        """The number after the last line of a section, without the comments directly above the next
        header, which belong to that header.
        """
        end = section.end
        if end == len(document.texts):
            return end
        first = section.entries[-1].last + 1 if section.entries else section.first
        while end > first and self._grammar.is_comment(document.texts[end - 1]):
            end -= 1
        return end

    def part(self, document: Document) -> Any:
        """The values of the keys."""
        return [
            [section, key, [entry.value for entry in self._entries(document, section, key)]]
            for section, key, _ in self._wanted
        ]

    def _sections(self, document: Document, name: str) -> List[Section]:
        wanted = self._grammar.section_name(name)
        sections = sections_of(document, self._grammar)
        if not wanted:
            return sections[:1]
        return [section for section in sections[1:] if section.name == wanted]

    def _section(self, document: Document, name: str) -> Optional[Section]:
        sections = self._sections(document, name)
        return sections[0] if sections else None

    def _entries(self, document: Document, section: str, key: str) -> List[Entry]:
        return [
            entry
            for found in self._sections(document, section)
            for entry in found.entries
            if self._grammar.same(entry.key, key)
        ]

    def _set(self, document: Document, section: str, key: str, values: Any) -> None:
        entries = self._entries(document, section, key)
        if isinstance(values, str):
            wanted = [values]
            entries = entries[:1]
        else:
            wanted = values or []
        for entry, value in zip(entries, wanted):
            if entry.value != value:
                self._require_one_line(entry)
                text = entry.prefix + entry.key + (spaced(entry) or self._grammar.separator)
                document.replace(entry.at, entry.at + 1, [(text + value).rstrip() + entry.suffix])
        for entry in reversed(entries[len(wanted) :]):
            self._require_one_line(entry)
            document.remove(entry.at, entry.at + 1)
        missing = wanted[len(entries) :]
        if missing:
            self._add(document, section, key, missing)

    @staticmethod
    def _require_one_line(entry: Entry) -> None:
        if entry.last > entry.at:
            raise ValueError(
                "the value of %s continues on line %d, but settings only change single-line values"
                % (entry.key, entry.at + 2)
            )

    def _add(self, document: Document, section: str, key: str, values: Sequence[str]) -> None:
        section_found = self._section(document, section)
        everywhere = sections_of(document, self._grammar)
        model = self._model(
            [*(section_found.entries if section_found else []), *everywhere[0].entries]
        )
        if model is None:
            model = self._model([entry for one in everywhere for entry in one.entries])
        indent = section_found.entries[0].prefix if section_found and section_found.entries else ""
        indent = "" if indent.strip() else indent
        if (
            section
            and self._grammar.kind == "ssh"
            and not (section_found and section_found.entries)
        ):
            indent = "    "
        lines = [
            (indent + key + (model or self._grammar.separator) + one).rstrip() for one in values
        ]
        if section_found is None:
            self._add_section(document, section, lines)
            return
        document.insert(self._place(document, section_found, key), lines)

    def _model(self, entries: Sequence[Entry]) -> Optional[str]:
        """The separator of existing entries, to be copied for a new one."""
        if self._grammar.by_blank:
            return " "
        separators = [spaced(entry) for entry in entries if entry.separator.strip()]
        return separators[0].replace("\t", " ") if separators and len(separators[0]) < 4 else None

    def _place(self, document: Document, section: Section, key: str) -> int:
        """The position of a new entry: after its last line, after a comment that sets the key, or
        after the last entry; otherwise, at the beginning of a section or at the end of the lines
        above all headers.
        """
        grammar, texts = self._grammar, document.texts
        same = [entry for entry in section.entries if grammar.same(entry.key, key)]
        if same:
            return same[-1].last + 1
        for at in range(section.first, section.end):
            if grammar.is_comment(texts[at]):
                said = grammar.entry(grammar.uncommented(texts[at]), at)
                if said is not None and said.separator and grammar.same(said.key, key):
                    return at + 1
        if section.entries:
            return section.entries[-1].last + 1
        if section.first:
            return section.first
        at = section.end
        if at < len(texts):  # comments right above the first header belong to that
            while at and grammar.is_comment(texts[at - 1]):
                at -= 1
        while at and not texts[at - 1].strip():
            at -= 1
        return at

    def _add_section(self, document: Document, name: str, lines: Sequence[str]) -> None:
        texts = document.texts
        blank = [""] if texts and texts[-1].strip() else []
        document.insert(len(texts), [*blank, self._grammar.header_line(name), *lines])


def text_of(value: Any) -> str:
    """Return the written form of a setting's value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _flat(settings: Mapping[str, Any]) -> List[Tuple[str, str, Any]]:
    """The section, key and values of each setting; a section without keys has the key ""."""
    result: List[Tuple[str, str, Any]] = []
    inner: Dict[str, Mapping[str, Any]] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            inner[key] = value
        else:
            result.append(("", key, _values(value)))
    for section, keys in inner.items():
        result += [(section, key, _values(value)) for key, value in keys.items()]
        if not keys:
            result.append((section, "", None))
    return result


def _values(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [text_of(one) for one in value]
    return text_of(value)
