"""Splits arguments in the form ``key=value`` as Ansible does (controller)."""

import re

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
