"""Versions of Python packages, by PEP 440 (both sides)."""

import re
from typing import Any, List, Optional, Tuple

_VERSION = re.compile(
    r"\s*v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_n>[0-9]*))?"
    r"(?:-(?P<post_1>[0-9]+)|(?P<post>[-_.]?(?:post|rev|r)[-_.]?(?P<post_n>[0-9]*)))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_n>[0-9]*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*\Z"
)
_PRE = {"alpha": "a", "a": "a", "beta": "b", "b": "b"}  # everything else is rc
_SPECIFIER = re.compile(r"\s*(===|==|!=|<=|>=|~=|<|>)\s*([^\s,;]+)\s*\Z")
_LOWEST, _HIGHEST = (0,), (2,)

Key = Tuple[Any, ...]


def key(version: str) -> Optional[Key]:
    """Return the sort key of a version, None for a text that is not a version."""
    match = _VERSION.match(version.lower())
    if match is None:
        return None
    local = tuple(
        (1, int(part), "") if part.isdigit() else (0, 0, part)
        for part in re.split("[-_.]", match.group("local") or "")
        if part
    )
    return (*_public(match), local)


def _public(match: Any) -> Key:
    release = [int(part) for part in match.group("release").split(".")]
    while release and release[-1] == 0:
        release.pop()
    pre, post, dev = match.group("pre"), _post(match), match.group("dev")
    if pre:
        stage: Key = (1, _PRE.get(pre, "rc"), int(match.group("pre_n") or 0))
    else:
        # A release for development alone comes before the alpha versions.
        stage = _LOWEST if dev and post is None else _HIGHEST
    later = _LOWEST if post is None else (1, post)
    early = (1, int(match.group("dev_n") or 0)) if dev else _HIGHEST
    return (int(match.group("epoch") or 0), tuple(release), stage, later, early)


def _post(match: Any) -> Optional[int]:
    if match.group("post_1") is not None:
        return int(match.group("post_1"))
    return int(match.group("post_n") or 0) if match.group("post") else None


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1. A text that is not a version sorts before all versions."""
    one, other = key(left) or (), key(right) or ()
    if not one and not other:
        one, other = (left,), (right,)
    return (one > other) - (one < other)


def is_final(version: str) -> bool:
    """Return whether it is neither a pre-release nor a development version."""
    match = _VERSION.match(version.lower())
    return match is not None and not match.group("pre") and not match.group("dev")


def satisfies(version: str, specifiers: str) -> bool:
    """Return whether a version matches specifiers such as ``>=1.0,<2``; ``ValueError`` for an
    invalid text.
    """
    return all(_meets(version, *parsed) for parsed in parse(specifiers))


def parse(specifiers: str) -> List[Tuple[str, str]]:
    """Return the operators with their versions; ``ValueError``."""
    operators = []
    for part in specifiers.split(","):
        if not part.strip():
            continue
        match = _SPECIFIER.match(part)
        if match is None or (match.group(1) != "===" and not _is_operand(*match.groups())):
            raise ValueError("%r is not a version specifier such as ==1.0 or >=2,<3" % part.strip())
        operators.append((match.group(1), match.group(2)))
    return operators


def _is_operand(operator: str, text: str) -> bool:
    if text.endswith(".*"):
        return operator in ("==", "!=") and key(text[:-2]) is not None
    return key(text) is not None and not (operator == "~=" and "." not in text)


def _meets(version: str, operator: str, wanted: str) -> bool:
    if operator == "===":
        return version.lower() == wanted.lower()
    if wanted.endswith(".*"):
        return _begins(version, wanted[:-2]) == (operator == "==")
    if operator == "~=":
        series = wanted.split("+")[0]
        match = _VERSION.match(series.lower())
        numbers = match.group("release").split(".")[:-1] if match else []
        epoch = match.group("epoch") if match else None
        prefix = (epoch + "!" if epoch else "") + ".".join(numbers)
        return _order(version, wanted) >= 0 and _begins(version, prefix)
    order = _order(version, wanted)
    if operator in ("<", ">") and order:
        same = _release(version) == _release(wanted)
        if operator == "<" and same and is_final(wanted) and not is_final(version):
            return False
        if operator == ">" and same and _is_post_of(version, wanted):
            return False
    return {
        "==": order == 0,
        "!=": order != 0,
        "<=": order <= 0,
        ">=": order >= 0,
        "<": order < 0,
        ">": order > 0,
    }[operator]


def _order(version: str, wanted: str) -> int:
    """Order two versions; the local part counts only if one is wanted."""
    return compare(version if "+" in wanted else version.split("+")[0], wanted)


def _release(version: str) -> Key:
    whole = key(version) or (0, ())
    return whole[:2]


def _is_post_of(version: str, wanted: str) -> bool:
    mine, other = (_VERSION.match(text.lower()) for text in (version, wanted))
    return (
        mine is not None and other is not None and _post(mine) is not None and _post(other) is None
    )


def _begins(version: str, prefix: str) -> bool:
    mine, other = (_VERSION.match(text.lower()) for text in (version, prefix))
    if (
        mine is None
        or other is None
        or (mine.group("epoch") or "0") != (other.group("epoch") or "0")
    ):
        return False
    wanted = [int(part) for part in other.group("release").split(".")]
    numbers = [int(part) for part in mine.group("release").split(".")]
    numbers += [0] * (len(wanted) - len(numbers))
    return numbers[: len(wanted)] == wanted
