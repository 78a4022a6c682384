"""What a command says it may change, for the previews of what comes later (target)."""

from typing import Any, Callable, Sequence

from remote_runtime.effects import below, everything

_KINDS = {"service": "unit"}


def affected(affects: Any) -> Callable[[str, str, bool], bool]:
    """What the entries of ``affects`` cover, everything where there is none.

    An entry is an absolute path, which stands for all below it too, or ``TYPE#NAME``.
    """
    if affects is None:
        return everything
    parts = [_one(str(entry)) for entry in affects]

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind == "host":  # what reads it may read anything
            return bool(parts)
        return any(part(kind, value, present) for part in parts)

    return covers


def _one(entry: str) -> Callable[[str, str, bool], bool]:
    if entry.startswith("/"):
        return below(entry, itself=True)
    type_name, _, name = entry.partition("#")
    if name.startswith("/"):
        return below(name, itself=True)
    thing = _KINDS.get(type_name, type_name)
    names: Sequence[str] = (name, name + ".service")

    def covers(kind: str, value: str, present: bool) -> bool:
        return kind == thing and value in names

    return covers
