"""Changes frames of a conversation: values of their JSON, whole frames, and mere bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from remote_runtime.protocol import wire

_NESTED: Any = 0
for _ in range(40):
    _NESTED = [_NESTED]
_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**60, 10**4000, 0.5, -0.0, 1e308, float("nan"),
    float("inf"), "", "x", "x" * 100_000, "\x1b[2J\x1b]0;owned\x07", "\u202etxt.exe", "\ud800",
    "\x00", "../../etc/passwd", "/", "{{ 1 + 1 }}", "[masked]" * 5_000, "0" * 64, "ccm1", [], {},
    [[]] * 5_000, ["a"] * 5_000, {"t": "done"}, {str(n): n for n in range(2_000)}, _NESTED,
)  # fmt: skip
_TYPES = (
    "hello", "facts", "want", "render", "content", "progress", "event", "stable", "notice", "ping",
    "done", "plan", "blob", "read", "rendered", "cancel", "bye", "", "exec", "\x00",
)  # fmt: skip


class Mutator:
    """Changes one or a few frames of a list at a time; the same seed makes the same changes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ways: tuple[Callable[[list[bytes], int], None], ...] = (
            self._value, self._value, self._value, self._value, self._key, self._type, self._raw,
            self._raw, self._cut, self._length, self._kind, self._twice, self._gone, self._moved,
        )  # fmt: skip

    def changed(self, frames: list[bytes]) -> list[bytes]:
        """The frames with something wrong in them, mostly late, so that much is heard before."""
        made = list(frames)
        for _ in range(self._random.choice((1, 1, 2, 4))):
            at = int(len(made) * max(self._random.random(), self._random.random()))
            if made:
                self._random.choice(self._ways)(made, min(at, len(made) - 1))
        return made

    def _value(self, frames: list[bytes], at: int) -> None:
        message = _message(frames[at])
        if message is None:
            return self._raw(frames, at)
        parent: Any = message
        while True:
            keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
            if not keys:
                break
            key = self._random.choice(keys)
            inner = parent[key]
            if isinstance(inner, (dict, list)) and inner and self._random.random() < 0.8:
                parent = inner
                continue
            parent[key] = self._random.choice(_VALUES)
            break
        _put(frames, at, message)

    def _key(self, frames: list[bytes], at: int) -> None:
        message = _message(frames[at])
        if message is None:
            return self._raw(frames, at)
        if self._random.random() < 0.5:
            message.pop(self._random.choice(list(message)))
        else:
            message[self._random.choice(("x", "host", "run_id", "error", "__class__", "t "))] = 1
        _put(frames, at, message)

    def _type(self, frames: list[bytes], at: int) -> None:
        message = _message(frames[at])
        if message is not None:
            message["t"] = self._random.choice(_TYPES)
            _put(frames, at, message)

    def _raw(self, frames: list[bytes], at: int) -> None:
        data = bytearray(frames[at])
        for _ in range(self._random.choice((1, 1, 3, 20)) if data else 0):  # it may be cut to none
            data[self._random.randrange(5, max(6, len(data))) % len(data)] = self._random.randrange(
                256
            )
        frames[at] = bytes(data)

    def _cut(self, frames: list[bytes], at: int) -> None:
        frames[at] = frames[at][: self._random.randrange(max(1, len(frames[at])))]

    def _length(self, frames: list[bytes], at: int) -> None:
        length = self._random.choice((0, 1, 1 << 20, (1 << 20) + 1, (1 << 32) - 1))
        frames[at] = length.to_bytes(4, "big") + frames[at][4:]

    def _kind(self, frames: list[bytes], at: int) -> None:
        frames[at] = (
            frames[at][:4] + self._random.choice((b"J", b"B", b"X", b"\0")) + frames[at][5:]
        )

    def _twice(self, frames: list[bytes], at: int) -> None:
        frames[at:at] = [frames[at]] * self._random.choice((1, 2, 50))

    def _gone(self, frames: list[bytes], at: int) -> None:
        del frames[at]

    def _moved(self, frames: list[bytes], at: int) -> None:
        frames.insert(self._random.randrange(len(frames)), frames.pop(at))


def _message(frame: bytes) -> Any:
    if frame[4:5] != b"J":
        return None
    try:
        found = json.loads(frame[5:])
    except ValueError:
        return None  # it was changed before
    return found if isinstance(found, dict) and found else None


def _put(frames: list[bytes], at: int, message: Any) -> None:
    frames[at] = wire.encode_json(json.dumps(message).encode("ascii"))
