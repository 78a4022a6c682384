"""Abbreviates lists of host names: ``web[1-3]``, ``db[01-12].example.org`` (controller)."""

import re
from collections.abc import Iterable

_NUMBERS = r"([0-9]+)"
Tokens = tuple[str, ...]


def fold(names: Iterable[str]) -> list[str]:
    """Return the names in order of first appearance; names that differ in only one
    number are merged.
    """
    families: dict[Tokens, list[Tokens]] = {}
    for name in names:
        tokens = tuple(re.split(_NUMBERS, name))
        families.setdefault(tokens[::2], []).append(tokens)
    return [text for family in families.values() for text in _fold_family(family)]


def _fold_family(family: list[Tokens]) -> Iterable[str]:
    """Merge the names of one family, which have the same text around their numbers."""
    varying = [at for at in range(1, len(family[0]), 2) if len({t[at] for t in family}) > 1]
    if not varying:
        yield from dict.fromkeys("".join(tokens) for tokens in family)
        return
    # The number with the most values counts the hosts; of several, the last one.
    at = max(varying, key=lambda place: (len({t[place] for t in family}), place))
    rows: dict[tuple[Tokens, Tokens], list[str]] = {}
    for tokens in family:
        rows.setdefault((tokens[:at], tokens[at + 1 :]), []).append(tokens[at])
    for (before, after), numbers in rows.items():
        span = ",".join(_spans(numbers))
        inner = f"[{span}]" if len(numbers) > 1 else span
        yield "".join(before) + inner + "".join(after)


def _spans(numbers: Iterable[str]) -> Iterable[str]:
    ordered = sorted(dict.fromkeys(numbers), key=lambda text: (int(text), len(text)))
    first = last = ordered[0]
    for text in ordered[1:]:
        if text == str(int(last) + 1).zfill(len(last)):
            last = text
            continue
        yield first if first == last else f"{first}-{last}"
        first = last = text
    yield first if first == last else f"{first}-{last}"


def _cut(part: str, limit: int) -> str:
    """The start of the part, cut between two numbers if possible."""
    head = part[: limit - 3]
    at = head.rfind(",")
    return head[:at] + ",…]" if "[" in head and at > 0 else head + "…"


def named(names: list[str], limit: int) -> str:
    """The merged names in about ``limit`` characters, and their number if there are several."""
    parts: list[str] = []
    used = 0
    folded = fold(names)
    for part in folded:
        if parts and used + len(part) > limit:
            parts.append("…")
            break
        parts.append(part if len(part) <= limit else _cut(part, limit))
        used += len(part) + 2
    text = ", ".join(parts)
    return text if len(names) == 1 else f"{text} ({len(names)} hosts)"


def on_all(count: int) -> str:
    """The words for all of several hosts."""
    return "on both hosts" if count == 2 else f"on all {count:,} hosts"
