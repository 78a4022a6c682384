"""The numbers of ``with_sequence`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.key_values import key_values

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
