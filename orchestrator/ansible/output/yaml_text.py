"""Writes values as YAML in the form that a person would write (controller)."""

import re
from typing import Any

from orchestrator.ansible.source.yaml_reader import Vaulted

_PLAIN = re.compile(r"[A-Za-z/_.][\w./@+=$-]*(?: [\w./@+=$(),%-]+)*(?<![.:])", re.ASCII)
_WORDS = frozenset(
    [
        "true",
        "false",
        "null",
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        "t",
        "f",
        "nan",
        "inf",
        ".inf",
        ".nan",
        "~",
    ]
)
_WIDTH = 96


def scalar(value: Any) -> str:
    """A value that is neither a list nor a map, on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    if _is_plain(text) or re.fullmatch(r"\d+[smh]|https?://[\w./:@%+=?&~-]*\w", text):
        return text
    return quoted(text)


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or text.lower() in _WORDS or text.startswith("."):
        return False
    return not re.match(r"[-+.]?\d", text)


def expression(text: str) -> str:
    """An expression as unquoted text if YAML allows it, else in quotes."""
    safe = (
        not re.search(r": |:$| #|[\n\t]", text)
        and re.match(r"[A-Za-z(]", text)
        and text.lower() not in _WORDS
        and not text.endswith((" ", ":"))
    )
    return text if safe else quoted(text)


def quoted(text: str) -> str:
    """Return a string in quotes: single quotes if that saves escapes."""
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]", text):
        return _double(text)
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _double(text: str) -> str:
    signs = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    body = "".join(signs.get(one, one) for one in text)
    return (
        '"'
        + re.sub(
            r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]", lambda m: f"\\u{ord(m.group()):04x}", body
        )
        + '"'
    )


def _is_block(text: str) -> bool:
    return (
        "\n" in text
        and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\t]", text)
        and not re.search(r"[ ]+(\n|$)", text)
        and bool(text.strip())
        and not text.startswith("\n")
    )


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{_flow_scalar(key)}: {flow(one)}" for key, one in value.items())
        return "{" + pairs + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(one) for one in value) + "]"
    return _flow_scalar(value)


def _flow_scalar(value: Any) -> str:
    text = scalar(value)
    if isinstance(value, str) and text == value and re.search(r"[,\[\]{}:#]", text):
        return quoted(text)
    return text


def pair(key: str, value: Any, indent: int, as_expression: bool = False) -> list[str]:
    """The lines of ``key: value``."""
    blanks, name = " " * indent, scalar(key)
    if as_expression and isinstance(value, str):
        return [f"{blanks}{name}: {expression(value)}"]
    if isinstance(value, Vaulted):
        return [f"{blanks}{name}: !vault |", *_block(value.strip() + "\n", indent + 2)]
    if isinstance(value, str) and _is_block(value):
        return [f"{blanks}{name}: {_block_sign(value)}", *_block(value, indent + 2)]
    if not isinstance(value, (dict, list)) or not value:
        return [
            f"{blanks}{name}: {flow(value) if isinstance(value, (dict, list)) else scalar(value)}"
        ]
    short = flow(value)
    if len(short) + indent + len(name) + 2 <= _WIDTH and _is_simple(value):
        return [f"{blanks}{name}: {short}"]
    return [f"{blanks}{name}:", *lines(value, indent + 2)]


def _is_simple(value: Any) -> bool:
    inner = list(value.values()) if isinstance(value, dict) else list(value)
    if any("\n" in one for one in inner if isinstance(one, str)):
        return False  # blocks, vaulted values among them
    return all(not isinstance(one, (dict, list)) or not one for one in inner) and len(inner) <= 8


def _block_sign(text: str) -> str:
    lines_ = text.split("\n")
    first = next((one for one in lines_ if one), "")
    number = "2" if first.startswith(" ") else ""
    if not text.endswith("\n"):
        return f"|{number}-"
    return f"|{number}+" if text.endswith("\n\n") else f"|{number}"


def _block(text: str, indent: int) -> list[str]:
    body = text[:-1] if text.endswith("\n") else text
    return [" " * indent + one if one else "" for one in body.split("\n")]


def lines(value: Any, indent: int) -> list[str]:
    """The lines of a list or map."""
    found: list[str] = []
    if isinstance(value, dict):
        for key, one in value.items():
            found += pair(str(key), one, indent)
        return found
    blanks = " " * indent
    for one in value:
        if isinstance(one, dict) and one:
            short = flow(one)
            if len(short) + indent + 2 <= _WIDTH and _is_simple(one):
                found.append(f"{blanks}- {short}")
                continue
            inner = lines(one, indent + 2)
            found += [f"{blanks}- {inner[0].lstrip()}", *inner[1:]]
        elif isinstance(one, Vaulted):
            found += [f"{blanks}- !vault |", *_block(one.strip() + "\n", indent + 2)]
        elif isinstance(one, list) and one:
            found.append(f"{blanks}- {flow(one)}")
        elif isinstance(one, str) and _is_block(one):
            found += [f"{blanks}- {_block_sign(one)}", *_block(one, indent + 2)]
        else:
            found.append(f"{blanks}- {flow(one)}")
    return found


def comment(text: str, indent: int) -> list[str]:
    """Comment lines."""
    blanks = " " * indent
    return [f"{blanks}# {one}".rstrip() for one in clean(text).split("\n")]


def clean(text: str) -> str:
    """Return a string without characters that are invalid in comments."""
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]", "?", text)
