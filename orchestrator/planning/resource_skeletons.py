"""Resources that are equal on several hosts except for the content of their files (controller)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.planning.compiled_resource import CompiledResource, Outline
from orchestrator.planning.content.blobs import Blob, TextBlob, reference_text


class ResourceTemplate:
    """A compiled resource without its blobs: ``pieces`` are the JSON text of its properties between
    the references to blobs, and ``whole`` are those of its entry. Equal only to itself.
    """

    __slots__ = ("longest", "outline", "pieces", "registrations", "whole")

    def __init__(self, compiled: CompiledResource, pieces: tuple[bytes, ...]) -> None:
        self.outline = compiled.outline
        self.registrations = compiled.registrations
        self.longest = compiled.longest
        self.pieces = pieces
        first, *rest = pieces
        around = [compiled.outline.opened(first), *rest]
        around[-1] += compiled.outline.tail
        self.whole = tuple(around)

    @classmethod
    def of(cls, compiled: CompiledResource) -> ResourceTemplate | None:
        """The template for a resource; None if a reference is not found."""
        pieces = []
        rest = compiled.properties
        for blob in compiled.blobs:
            piece, separator, rest = rest.partition(blob.reference_json)
            if not separator:
                return None
            pieces.append(piece)
        return cls(compiled, (*pieces, rest))

    def filled(self, texts: Sequence[bytes], own: bool = False) -> CompiledResource:
        """Return the resource with these blobs, one for each reference; ``own``: other hosts
        probably do not have them.
        """
        filled = FilledResource(self, tuple(texts))
        return filled if own and texts else filled.extended()


class FilledResource(CompiledResource):
    """A resource with blobs that other hosts probably do not have. A plan keeps many of these in
    memory while its host is active, so they store only the blobs.
    """

    __slots__ = ("skeleton", "texts")

    def __init__(self, skeleton: ResourceTemplate, texts: tuple[bytes, ...]) -> None:
        self.skeleton = skeleton
        self.texts = texts

    @property
    def outline(self) -> Outline:
        return self.skeleton.outline

    @property
    def properties(self) -> bytes:
        """See ``CompiledResource``; computed each time."""
        return self._between(self.skeleton.pieces)

    @property
    def json(self) -> bytes:
        """See ``CompiledResource``; computed each time."""
        return self._between(self.skeleton.whole)

    def _between(self, pieces: tuple[bytes, ...]) -> bytes:
        """The pieces joined with references to its blobs."""
        first, *rest = pieces
        parts = [first]
        for data, piece in zip(self.texts, rest, strict=True):
            parts += (reference_text(data).encode("ascii"), piece)
        return b"".join(parts)

    @property
    def blobs(self) -> tuple[Blob, ...]:
        """See ``CompiledResource``; computed each time."""
        return tuple(map(TextBlob, self.texts))

    @property
    def blob_count(self) -> int:
        return len(self.texts)

    @property
    def children(self) -> tuple[CompiledResource, ...]:
        return ()

    @property
    def registrations(self) -> tuple[Mapping[str, Any], ...]:
        return self.skeleton.registrations

    @property
    def longest(self) -> float:
        return self.skeleton.longest
