"""Caches template results that depend on no value of a host, for all hosts (controller).

A file that lists 5,000 hosts is the same on each of them. The cache does not guess this from the
text: it renders the template with host values that raise an error when they are read. If that
succeeds, the result is valid for all hosts; otherwise the template is rendered for each host.
"""

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NoReturn, Protocol, TypeVar

from orchestrator.language.errors import EvaluationError, NeedFileError
from orchestrator.support.hashing import sha256

MAX_BYTES = 64 << 20
_EACH = 200
"""The size of any value in bytes, not including its text."""
_ALIKE, _BY_DATA, _OWN = range(3)
_SIMPLE = (str, int, float, bool, type(None))


class CachedScope(Protocol):
    """The parts of a ``Scope`` that the cache reads."""

    @property
    def data(self) -> Any: ...

    @property
    def loop(self) -> Mapping[str, Any]: ...

    @property
    def _replace(self) -> Callable[..., Any]: ...


S = TypeVar("S", bound=CachedScope)


class HostValueRead(BaseException):
    """A template has read a value that differs between hosts."""


class Unreadable(dict[str, Any]):
    """Replaces values of a host, such as its facts; reading any part of them raises an error."""

    def __init__(self) -> None:
        super().__init__({"": None})  # an empty one would not be read

    def _read(self, *_: Any, **__: Any) -> NoReturn:
        raise HostValueRead

    __getitem__ = __iter__ = __contains__ = __len__ = __bool__ = __reversed__ = _read
    __repr__ = __str__ = __format__ = __eq__ = __ne__ = __or__ = __ror__ = _read
    __getattr__ = __deepcopy__ = __copy__ = get = keys = values = items = copy = _read
    __hash__ = None


class RenderingCache:
    """Renders templates and reuses results that are equal on several hosts. Thread-safe: at worst,
    something is rendered twice.

    It drops all results once they take more than ``maximum`` bytes.
    """

    def __init__(self, maximum: int = MAX_BYTES) -> None:
        self._maximum = maximum
        self._levels: dict[Hashable, int] = {}
        self._values: dict[Hashable, Any] = {}
        self._bytes = 0
        self._last_data: tuple[Any, bytes] = (None, b"")

    def render(self, template: Hashable, scope: S, render: Callable[[S], Any]) -> Any:
        """The result of ``render`` for the scope; ``template`` identifies what it renders."""
        level = self._levels.get(template, _ALIKE)
        while level < _OWN:
            if level == _BY_DATA and scope.data.__class__ is not dict:
                return render(scope)  # data that is resolved on first use must not be cached
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
                break  # reported with the host's own values
            if not isinstance(value, _SIMPLE):
                break  # a receiver could change it
            self._keep(key, value)
            return value
        self._levels[template] = _OWN
        return render(scope)

    def _keep(self, key: Hashable, value: Any) -> None:
        size = _EACH + (len(value) if isinstance(value, str) else 0)
        if size > self._maximum:
            return
        if self._bytes + size > self._maximum:
            self._values, self._bytes = {}, 0
        self._values[key] = value
        self._bytes += size

    def _key(self, data: Any) -> bytes:
        """A key for the data, computed once for all data of a host."""
        known, digest = self._last_data
        if known is not data:
            digest = _digest(data)
            self._last_data = data, digest
        return digest


def _digest(values: Any) -> bytes:
    """A few bytes that are the same for equal values in the same order; values may be large."""
    return sha256(json.dumps(values).encode("ascii")).digest()


def _without_host(scope: S, level: int) -> S:
    """The scope without anything specific to a host."""
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
        secrets=None,
        target_files={},
    )
    return without
