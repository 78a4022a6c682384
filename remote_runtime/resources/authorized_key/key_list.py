"""The keys that a manifest lists, and the lines of a key file (both sides)."""

from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.plan_item import Properties
from remote_runtime.text import authorized_keys
from remote_runtime.text.authorized_keys import Key

_PRIVATE = ("PRIVATE KEY-----", "PuTTY-User-Key-File")
_OTHER_FORMS = ("-----BEGIN ", "---- BEGIN SSH2")


class KeyList(NamedTuple):
    """The keys of a resource, and (property, message) for each mistake."""

    keys: List[Key]
    problems: List[Tuple[str, str]]


class Line(NamedTuple):
    """A line of a file: ``key`` is None if sshd finds no key; ``ignored`` means that the line is
    blank or a comment.
    """

    text: str
    key: Optional[Key]
    ignored: bool


def listed(properties: Properties) -> KeyList:
    """The keys that ``key`` lists, with the options and the comment of the resource."""
    result: List[Key] = []
    problems: List[Tuple[str, str]] = []
    value = properties.get("key")
    many = isinstance(value, list)
    for at, text in enumerate(value if isinstance(value, list) else [str(value or "")]):
        for number, line in enumerate(str(text).split("\n"), 1):
            place = "key %d: " % (at + 1) if many else ""
            place += "line %d: " % number if "\n" in str(text).strip("\n") else ""
            if _problem_of_text(str(text)):
                problems.append(("key", place.split("line")[0] + _problem_of_text(str(text))))
                break
            if not authorized_keys.is_ignored(line):
                try:
                    result.append(authorized_keys.parse(line))
                except ValueError as error:
                    problems.append(("key", place + str(error)))
    if "key" in properties and not (result or problems or value == []):
        problems.append(("key", "it contains no key"))
    return _dressed(result, problems, properties)


def _problem_of_text(text: str) -> str:
    if any(mark in text for mark in _PRIVATE):
        return "this is a private key; use the public one, the file with the suffix .pub"
    if any(mark in text for mark in _OTHER_FORMS):
        return "this is not in OpenSSH format; convert it with ssh-keygen -i -f FILE"
    if text.startswith(("http://", "https://")):
        return "it must be a key, not a URL"
    if "\0" in text:
        return "it has a NUL byte"
    return ""


def _dressed(keys: List[Key], problems: List[Tuple[str, str]], properties: Properties) -> KeyList:
    """The keys with the options and the comment of the resource."""
    options, comment = options_of(properties), properties.get("comment")
    for key in keys:
        if key.options is not None:
            problems += [("key", message) for message in problems_of_options(key.options)]
            if options is not None:
                problems.append(
                    ("options", "the key has its own options; write all options in one place")
                )
                break
    if options:
        problems += [("options", message) for message in problems_of_options(options)]
    if comment is not None and len(keys) > 1:
        problems.append(
            ("comment", "it applies to exactly one key; write the comments of several keys in key")
        )
    if options is not None:
        keys = [key._replace(options=options) for key in keys]
    if comment is not None:
        keys = [key._replace(comment=str(comment)) for key in keys]
    return KeyList(keys, problems)


def options_of(properties: Properties) -> Optional[str]:
    """The options in the form used in a line, None if the resource does not set them."""
    options = properties.get("options")
    if isinstance(options, list):
        return ",".join([str(one) for one in options])
    return None if options is None else str(options)


def problems_of_options(text: str) -> List[str]:
    """Return the reasons why sshd would refuse a line with these options."""
    try:
        options = authorized_keys.split_options(text) if text else []
    except ValueError as error:
        return [str(error)]
    return [problem for problem in map(authorized_keys.problem_of_option, options) if problem]


class KeyFile(object):
    """The lines of a file, all unchanged, and which of them have a key."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self._places: Dict[Tuple[str, bytes], List[int]] = {}
        for at, line in enumerate(lines):
            if line.key is not None:
                self._places.setdefault(line.key.identity, []).append(at)

    def without(self, gone: Sequence[Key]) -> Sequence[Line]:
        """The lines without these keys, regardless of their options and comments."""
        places = self._of(gone)
        return [line for at, line in enumerate(self.lines) if at not in places]

    def merged(self, wanted: Sequence[Key], exclusive: bool) -> Sequence[Line]:
        """The lines with these keys; lines in the desired state are unchanged, byte for byte.

        A key whose options are managed has exactly the lines that are listed for it. ``exclusive``:
        no other keys are kept, nor lines that sshd might read as keys later.
        """
        groups: Dict[Tuple[str, bytes], List[Key]] = {}
        for key in wanted:
            groups.setdefault(key.identity, []).append(key)
        changed: Dict[int, Optional[Line]] = {}
        added: List[Line] = []
        for identity, group in groups.items():
            places = self._places.get(identity, [])
            _settle(self.lines, group, places=places, changed=changed, added=added)
        if not (changed or added or exclusive):
            return self.lines
        lines: List[Line] = []
        for at, line in enumerate(self.lines):
            if at in changed:
                lines += [found for found in (changed[at],) if found is not None]
            elif line.ignored or not exclusive or (line.key and line.key.identity in groups):
                lines.append(line)
        return lines + added

    def records(self, wanted: Optional[Sequence[Key]]) -> List[str]:
        """The form of the keys in these lines for records: of all keys, or of the
        ``wanted`` ones.
        """
        if wanted is not None:
            return [key.shown for key in (self.lines[at].key for at in self._of(wanted)) if key]
        key_lines = [line for line in self.lines if line.key is not None or not line.ignored]
        return [line.key.shown if line.key is not None else "(not a key)" for line in key_lines]

    def _of(self, wanted: Sequence[Key]) -> List[int]:
        """The numbers of the lines that have one of these keys."""
        identities = {key.identity for key in wanted}
        return sorted(at for one in identities for at in self._places.get(one, ()))


@lru_cache(maxsize=2)
def file_of(data: bytes) -> KeyFile:
    """The lines of a file, parsed once for all resources with keys in it."""
    text = data.decode("utf-8", "surrogateescape")
    texts = text.split("\n")
    return KeyFile([_line(one) for one in (texts[:-1] if texts[-1] == "" else texts)])


def _line(text: str) -> Line:
    return Line(text, authorized_keys.key_of(text), authorized_keys.is_ignored(text))


def data_of(lines: Sequence[Line]) -> bytes:
    """The content of a file with these lines."""
    text = "".join([line.text + "\n" for line in lines])
    return text.encode("utf-8", "surrogateescape")


def _settle(
    lines: Sequence[Line],
    group: Sequence[Key],
    *,
    places: Sequence[int],
    changed: Dict[int, Optional[Line]],
    added: List[Line],
) -> None:
    """Determine the new lines of one key: ``changed`` receives those that change, with None for a
    removed line.
    """
    if all(key.options is None for key in group):
        comment = group[-1].comment
        for at in places:
            _commented(lines[at], comment, at, changed)
        added += [] if places else [_new(group[-1])]
        return
    waiting = list({key.options or "": key for key in group}.items())
    left = []
    for at in places:
        key = lines[at].key
        own = (key.options or "") if key is not None else ""
        match = next((one for one in waiting if one[0] == own), None)
        if match is None:
            left.append(at)
        else:
            waiting.remove(match)
            _commented(lines[at], match[1].comment, at, changed)
    for at in left:
        changed[at] = _redressed(lines[at], waiting.pop(0)[1]) if waiting else None
    added += [_new(key) for _, key in waiting]


def _commented(line: Line, comment: str, at: int, changed: Dict[int, Optional[Line]]) -> None:
    if line.key is not None and comment and line.key.comment != comment:
        changed[at] = _new(line.key._replace(comment=comment))


def _redressed(line: Line, wanted: Key) -> Line:
    old = line.key.comment if line.key is not None else ""
    return _new(wanted._replace(comment=wanted.comment or old))


def _new(key: Key) -> Line:
    return Line(key.line, key, False)
