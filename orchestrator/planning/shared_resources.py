"""Compiles resources that have equal values on several hosts only once (controller)."""

import re
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple, cast

from orchestrator.expressions.template import Template
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.value_compiler import expressions_in
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.content.blob_references import PATH
from orchestrator.planning.resource_skeletons import ResourceTemplate
from orchestrator.support.caches import BoundedCache

MAX_BYTES = 8 << 20
MAX_PROFILES = 1 << 14
_EACH = 2000
"""The size of each resource in bytes, without its strings."""
_LONG = 2048
"""The total length of a resource's strings above which they are compared by identity."""
_MAX_LATEST = 256
_OWN = r"\bHost\.(name|address)\b"


class RenderProfile(NamedTuple):
    """How a resource is rendered on any host.

    ``now`` are the templated properties that are rendered during planning, and ``deferred`` are
    rendered on demand, both without ``ensure``. ``decide`` are the properties that affect the
    compiled resource, and ``texts`` are sent as blobs. ``shares``: it may be equal on several hosts
    except for its blobs; ``shares_texts``: including its blobs. Both are guesses by literal names;
    a wrong guess costs only time. ``alone_texts`` are its blob properties in order, if nothing else
    of it must be rendered or decided. ``repeats``: these may be the same string objects on several
    hosts.
    """

    now: tuple[str, ...]
    deferred: tuple[str, ...]
    decide: tuple[str, ...]
    texts: frozenset[str]
    shares: bool
    shares_texts: bool
    alone_texts: tuple[str, ...]
    repeats: bool

    @classmethod
    def on(cls, declared: DeclaredResource) -> "RenderProfile":
        """The profile of a declared resource."""
        kinds = declared.type.properties
        keys = [key for key in declared.templated if key != "ensure"]
        late = [key for key in keys if kinds[key].render == "deferred"]
        decide = tuple(key for key in declared.templated if not kinds[key].blob)
        # Files may change during the run, and the result of a custom type's code may depend on
        # anything.
        constant = not (
            PATH in declared.values or declared.type.tree in declared.values or declared.type.own
        )
        shares = constant and not _reads_own(declared, decide)
        texts = tuple(key for key in declared.values if kinds[key].blob)
        plain = isinstance(declared.name, str) and not (
            declared.control or declared.foreach or decide
        )
        return cls(
            now=tuple(key for key in keys if key not in late),
            deferred=tuple(late),
            decide=decide,
            texts=frozenset(texts),
            shares=shares,
            shares_texts=shares and not _reads_own(declared, declared.templated),
            alone_texts=texts if shares and plain else (),
            repeats=any(_may_repeat(declared.values[key]) for key in texts),
        )


def _may_repeat(value: Any) -> bool:
    """Whether a value may be rendered once for all hosts."""
    return isinstance(value, Template) and value.may_be_alike


def _reads_own(declared: DeclaredResource, keys: Iterable[str]) -> bool:
    """Whether its name or one of these properties reads a value that is unique for each host."""
    values = (declared.name, *(declared.values[key] for key in keys))
    expressions = (expression for value in values for expression in expressions_in(value))
    return any(re.search(_OWN, expression.source) for expression in expressions)


class SharedResources:
    """The compiled resources of a manifest, by all values on which they depend; the ``outlook`` of
    each. Thread-safe.

    It drops its content once that exceeds ``maximum`` bytes.
    """

    def __init__(self, maximum: int = MAX_BYTES) -> None:
        self._kept: BoundedCache[CompiledResource | ResourceTemplate] = BoundedCache(maximum)
        self._latest: dict[
            tuple[DeclaredResource, int], tuple[tuple[Any, ...], CompiledResource]
        ] = {}
        self.outlook: Callable[[DeclaredResource], RenderProfile] = lru_cache(MAX_PROFILES)(
            RenderProfile.on
        )

    def latest(
        self, declared: DeclaredResource, index: int, texts: tuple[Any, ...]
    ) -> CompiledResource | None:
        """Return the last compiled resource, if it was compiled with these same string objects.

        Text that is rendered once for all hosts may be long, and comparing it for each host takes
        longer than the rest of planning.
        """
        known = self._latest.get((declared, index))
        if known is None or not all(map(is_, known[0], texts)):
            return None
        return known[1]

    def note(
        self,
        declared: DeclaredResource,
        index: int,
        texts: tuple[Any, ...],
        compiled: CompiledResource,
    ) -> None:
        """Store it as the ``latest`` if its string objects may occur again."""
        if sum(map(len, texts)) > _LONG:
            if len(self._latest) >= _MAX_LATEST:
                self._latest = {}
            self._latest[declared, index] = texts, compiled

    def get(
        self, key: Hashable, texts: tuple[bytes, ...], outlook: RenderProfile
    ) -> CompiledResource | None:
        """Return the resource compiled with these strings; None if no host had the same key."""
        whole = self._kept.get((key, texts)) if outlook.shares_texts else None
        if whole is not None:
            return cast(CompiledResource, whole)
        skeleton = self._kept.get(key)
        if not isinstance(skeleton, ResourceTemplate):
            return None
        resource = skeleton.filled(texts, own=not outlook.shares_texts)
        if outlook.shares_texts:
            self._keep_whole((key, texts), resource)
        return resource

    def keep(
        self,
        key: Hashable,
        texts: tuple[bytes, ...],
        compiled: CompiledResource,
        outlook: RenderProfile,
    ) -> None:
        """Store it for later hosts."""
        # A string that a check withheld is not in it: such a resource is compiled each time.
        skeleton = ResourceTemplate.of(compiled) if len(compiled.blobs) == len(texts) else None
        if skeleton is not None:
            self._kept.put(key, skeleton, _EACH + len(compiled.properties))
        if outlook.shares_texts:
            self._keep_whole((key, texts), compiled)

    def _keep_whole(self, key: Hashable, compiled: CompiledResource) -> None:
        size = _EACH + len(compiled.json) + sum(blob.size for blob in compiled.blobs)
        self._kept.put(key, compiled, size)
