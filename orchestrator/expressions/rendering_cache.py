"""What templates come to that no value of a host decides, rendered once for all hosts (controller).

A file that lists 5,000 hosts is the same on each of them. Whether that is so is not guessed from
its text: it is rendered with values of the host that cannot be read. Where that works, the result
holds for all hosts; where one is read, the template is rendered for each host.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NoReturn, Protocol, TypeVar

from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.support.hashing import sha256

MOST_BYTES = 64 << 20
_EACH = 200
"""Bytes that any value takes, its text aside."""
_ALIKE, _BY_DATA, _OWN = range(3)
_SIMPLE = (str, int, float, bool, type(None))


class Seen(Protocol):
    """What the cache reads of a ``Scope``."""

    @property
    def data(self) -> Any: ...

    @property
    def loop(self) -> Mapping[str, Any]: ...

    @property
    def _replace(self) -> Callable[..., Any]: ...


S = TypeVar("S", bound=Seen)


class HostValueRead(BaseException):
    """A template has read a value that differs from host to host."""


class Unreadable(dict[str, Any]):
    """Stands for values of a host, such as its facts; reading anything of them raises."""

    def __init__(self) -> None:
        super().__init__({"": None})  # an empty one would not be asked for its entries

    def _read(self, *_: Any, **__: Any) -> NoReturn:
        raise HostValueRead

    __getitem__ = __iter__ = __contains__ = __len__ = __bool__ = __reversed__ = _read
    __repr__ = __str__ = __format__ = __eq__ = __ne__ = __or__ = __ror__ = _read
    __getattr__ = __deepcopy__ = __copy__ = get = keys = values = items = copy = _read
    __hash__ = None


class RenderingCache:
    """Renders templates, those that come to the same on several hosts once. Thread-safe: at worst
    something is rendered twice.

    It forgets all values when they take more than ``most`` bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._levels: dict[Hashable, int] = {}
        self._values: dict[Hashable, Any] = {}
        self._bytes = 0
        self._last_data: tuple[Any, bytes] = (None, b"")

    def render(self, template: Hashable, scope: S, render: Callable[[S], Any]) -> Any:
        """What ``render`` makes of the scope; ``template`` is what it renders."""
        level = self._levels.get(template, _ALIKE)
        while level < _OWN:
            if level == _BY_DATA and scope.data.__class__ is not dict:
                return render(scope)  # data that is resolved as it is read, and is not to be here
            data = self._key(scope.data) if level == _BY_DATA else b""
            loop = _digest(dict(scope.loop)) if scope.loop else b""
            key = (template, data, loop)
            if key in self._values:
                return self._values[key]
            try:
                value = render(_without_host(scope, level))
            except HostValueRead:
                level = self._levels[template] = level + 1
                continue
            except (EvaluationError, NeedFileError):
                break  # told with the host's own values
            if not isinstance(value, _SIMPLE):
                break  # it could be changed by whoever gets it
            self._keep(key, value)
            return value
        self._levels[template] = _OWN
        return render(scope)

    def _keep(self, key: Hashable, value: Any) -> None:
        size = _EACH + (len(value) if isinstance(value, str) else 0)
        if size > self._most:
            return
        if self._bytes + size > self._most:
            self._values, self._bytes = {}, 0
        self._values[key] = value
        self._bytes += size

    def _key(self, data: Any) -> bytes:
        """What stands for the data, made once for those of one host."""
        known, digest = self._last_data
        if known is not data:
            digest = _digest(data)
            self._last_data = data, digest
        return digest


def _digest(values: Any) -> bytes:
    """A few bytes that equal values in the same order share; values may take much memory."""
    return sha256(json.dumps(values).encode("ascii")).digest()


def _without_host(scope: S, level: int) -> S:
    """The scope with nothing in it that is one host's own."""
    nothing: Any = Unreadable()
    data = scope.data if level == _BY_DATA else nothing
    without: S = scope._replace(
        facts=nothing,
        data=data,
        environ=nothing,
        host=nothing,
        asked=nothing,
        registry=None,
        buckets=None,
        target_files={},
    )
    return without
