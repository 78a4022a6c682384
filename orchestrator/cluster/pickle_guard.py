"""Treats messages from a Dask cluster as data, never as code (both sides).

A pickle is a program written by its author, and any member of a cluster may be compromised. There
are three independent barriers:

1. Messages are decoded here, not by Dask: pickles, and any other form that creates objects, are not
   deserialized.
2. No module of Dask has a reference to a function that loads pickles.
3. Python itself refuses to look up the names in a pickle, even in modules that are loaded later.
"""

import functools
import sys
import types
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any, NoReturn

import msgpack

from remote_runtime.errors import CcmError

MAX_BYTES = 64 << 20
"""The maximum size of one message; a larger one is refused before it is read."""

_FORMAT = {"strict_map_key": False, "raw": False}  # of msgpack, as Dask has it
_PACKAGES = ("distributed", "dask", "cloudpickle")
_MODULES = ("pickle", "_pickle", "cloudpickle", "cloudpickle.cloudpickle")
_OPENERS = ("load", "loads", "_load", "_loads", "Unpickler", "_Unpickler")
_DEPTH = 6  # containers and functions in each other that are searched
_is_refusing = False


class OpaqueValue:
    """A received value in a refused form, without its content."""

    __slots__ = ()


class MessageTooLargeError(ValueError):
    """A message is too large; its connection is closed."""


class PickleRefusedError(ValueError):
    """A message contains a pickle."""

    def __init__(self) -> None:
        super().__init__("refusing to open a pickle")


def refuse_pickles(core: Any, dask_pickle: Any, tcp: Any) -> None:
    """Disable unpickling of received data in this process.

    This covers Dask's modules for messages, pickles and connections. CcmError if this version of
    Dask has another way to unpickle; nothing may be received then.
    """
    global _is_refusing
    if _is_refusing:
        return
    sys.addaudithook(_audit)
    replacements = {core.loads: decode, dask_pickle.loads: _refuse, **_openers()}
    _replace(replacements)
    _replace(
        {
            tcp.read_bytes_rw: functools.partial(_read_bounded, tcp.read_bytes_rw),
            tcp.unpack_frames: functools.partial(_unpack_bounded, tcp.unpack_frames),
        }
    )
    left = sorted(set(_references(replacements)))
    if left:
        raise CcmError(
            f"distributed {version('distributed')} can open pickles in "
            f"{', '.join(left[:4])}, so anyone in its cluster could run code on this machine",
            hint="install another version of distributed, or use --engine processes",
        )
    _is_refusing = True


def decode(frames: Any, deserialize: bool = True, deserializers: Any = None) -> Any:
    """Decode a message of Dask as ``distributed.protocol.loads`` does, if it is plain data.

    A value in another form becomes ``OpaqueValue``, or ValueError if it must be deserialized.
    """

    def plain(found: dict[Any, Any]) -> Any:
        """Replace markers of serialized objects; refuse pickles."""
        if "__Serialized__" in found or "__Pickled__" in found:
            if deserialize:
                raise PickleRefusedError
            return OpaqueValue()
        if "__Enum__" in found:
            return found["name"]  # Dask would import a module for it
        return set(found["as-list"]) if "__Set__" in found else found

    return msgpack.loads(frames[0], object_hook=plain, use_list=False, **_FORMAT)


def _refuse(*_: object, **__: object) -> NoReturn:
    raise PickleRefusedError


class _RefusingUnpickler:
    """Replaces each ``Unpickler``."""

    def __init__(self, *_: object, **__: object) -> None:
        raise PickleRefusedError


def _audit(event: str, _: tuple[Any, ...]) -> None:
    """Python calls an audit hook before an unpickler resolves a name of a pickle, which every
    harmful pickle needs."""
    if event == "pickle.find_class":
        raise PickleRefusedError


async def _read_bounded(read: Any, stream: Any, size: int) -> Any:
    """Read a part of a message, unless it is too large."""
    _check_size(size)
    return await read(stream, size)


def _unpack_bounded(unpack: Any, *given: Any, **named: Any) -> Any:
    """The first part of a message, and the sizes of the following parts, for ``tcp.TCP``."""
    found = unpack(*given, **named)
    if isinstance(found, tuple):
        _check_size(sum(found[1]))
    return found


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise MessageTooLargeError(f"a message of {size} bytes is too large (limit {MAX_BYTES})")


def _openers() -> dict[Any, Any]:
    """Everything that opens pickles with the modules that contain it, each with its replacement."""
    found: dict[Any, Any] = {}
    for name in _MODULES:
        module = sys.modules.get(name)
        if module is None:
            continue
        harmless = types.ModuleType(name, f"The module {name} without what opens pickles.")
        vars(harmless).update(vars(module))
        for opener in _OPENERS:
            original = getattr(module, opener, None)
            if original is not None:
                found[original] = _RefusingUnpickler if isinstance(original, type) else _refuse
                vars(harmless)[opener] = found[original]
        found[module] = harmless
    return found


def _replace(replacements: dict[Any, Any]) -> None:
    for module in _loaded():
        for name, value in list(vars(module).items()):
            try:
                found = replacements.get(value)
            except TypeError:  # it cannot be a key
                continue
            if found is not None:
                vars(module)[name] = found


def _loaded() -> list[types.ModuleType]:
    """Return the loaded modules of Dask, including the modules that create pickles."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _PACKAGES and isinstance(module, types.ModuleType)
    ]


def _references(originals: Iterable[Any]) -> Iterator[str]:
    """The places in these modules that still refer to an original: containers, classes, defaults,
    closures.
    """
    sought = frozenset(map(id, originals))
    seen: set[int] = set()
    for module in _loaded():
        for name, value in list(vars(module).items()):
            if _holds(value, sought, seen, _DEPTH):
                yield f"{module.__name__}.{name}"


def _holds(value: Any, sought: frozenset[int], seen: set[int], depth: int) -> bool:
    if id(value) in sought:
        return True
    if not depth or id(value) in seen:
        return False
    seen.add(id(value))
    return any(_holds(part, sought, seen, depth - 1) for part in _parts(value))


def _parts(value: Any) -> list[Any]:
    """The references of an object, without its module's globals."""
    if isinstance(value, types.FunctionType):
        cells = [cell for cell in value.__closure__ or () if cell != types.CellType()]
        more = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        return [*more, *(cell.cell_contents for cell in cells), *vars(value).values()]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (staticmethod, classmethod, types.MethodType)):
        return [value.__func__]
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    if isinstance(value, type):
        own = str(value.__module__).partition(".")[0] in _PACKAGES
        return list(vars(value).values()) if own else []
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else []
