"""Splits arguments in the form ``key=value`` and those of ``with_sequence`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.problems import NotConvertible

_KEY = re.compile(r"[A-Za-z_][\w.]*=", re.ASCII)


def split_arguments(text: str) -> list[str]:
    """Return the words of a string; quotes and templates keep their spaces, and quotes are kept."""
    words: list[str] = []
    word, quote, depth = "", "", 0
    position = 0
    while position < len(text):
        two, char = text[position : position + 2], text[position]
        if not quote and two in ("{{", "{%", "{#"):
            depth += 1
            word += two
            position += 2
            continue
        if not quote and depth and two in ("}}", "%}", "#}"):
            depth -= 1
            word += two
            position += 2
            continue
        if char == "\\" and position + 1 < len(text) and not depth:
            word += two
            position += 2
            continue
        if char in "\"'" and not depth:
            quote = "" if quote == char else (quote or char)
        if char.isspace() and not quote and not depth:
            if word:
                words.append(word)
            word = ""
        else:
            word += char
        position += 1
    return [*words, word] if word else words


def unquoted(value: str) -> str:
    """The value without the quotes around it."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def key_values(text: str, known: tuple[str, ...] = ()) -> tuple[dict[str, str], str]:
    """Return the arguments in a string, and the rest: the free form of a command.

    With ``known``, only those names are arguments, as for ``command`` and ``shell``.
    """
    found: dict[str, str] = {}
    rest: list[str] = []
    for word in split_arguments(text):
        match = _KEY.match(word)
        name = match.group()[:-1] if match else ""
        if match and (not known or name in known):
            found[name] = unquoted(word[match.end() :])
        else:
            rest.append(word)
    if known and not found:
        return {}, text.strip()
    return found, " ".join(rest)


_FORMAT = re.compile(r"%0?\d*[dx]")
_MAX_NUMBERS = 1000


def sequence(value: Any) -> list[str]:
    """Return the strings of ``start=1 end=3 format=web%02d``. NotConvertible."""
    text = str(value[0] if isinstance(value, list) and len(value) == 1 else value)
    if "{{" in text:
        raise NotConvertible("with_sequence with variables")
    found, rest = key_values(text)
    if rest:
        match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?:/(\d+))?(?::(\S+))?", rest)
        if match is None:
            raise NotConvertible(f"the sequence {text}")
        names = ("start", "end", "stride", "format")
        found.update({n: one for n, one in zip(names, match.groups(), strict=True) if one})
    try:
        start, stride = int(found.get("start", "1"), 0), int(found.get("stride", "1"), 0)
        end = int(found["end"], 0) if "end" in found else start + int(found["count"], 0) - 1
    except (KeyError, ValueError) as error:
        raise NotConvertible(f"the sequence {text}") from error
    form = found.get("format", "%d")
    if not _FORMAT.search(form) or form.count("%") != 1 or stride == 0:
        raise NotConvertible(f"the sequence {text}")
    numbers = range(start, end + (1 if stride > 0 else -1), stride)
    if len(numbers) > _MAX_NUMBERS:
        raise NotConvertible("a sequence of more than 1000 numbers")
    return [form % one for one in numbers]
