"""Resources that hosts have alike but for the texts of their files (controller)."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.planning.blobs import TextBlob
from orchestrator.planning.compiled import Compiled, Cuts


class Skeleton:
    """A compiled resource without its texts, of whose properties there are the ``cuts``."""

    __slots__ = ("_cuts", "_made")

    def __init__(self, made: Compiled, cuts: Cuts) -> None:
        self._made = made._replace(properties=b"", blobs=())
        self._cuts = cuts

    @classmethod
    def of(cls, made: Compiled) -> Skeleton | None:
        """That of a resource; None where a reference is not found."""
        pieces = []
        rest = made.properties
        for blob in made.blobs:
            piece, found, rest = rest.partition(blob.reference_json)
            if not found:
                return None
            pieces.append(piece)
        return cls(made, Cuts((*pieces, rest)))

    def filled(self, texts: Sequence[bytes], own: bool = False) -> Compiled:
        """The resource with these texts, one for each reference; ``own``: no other host is likely
        to have them."""
        blobs = tuple(map(TextBlob, texts))
        properties, *rest = self._cuts.pieces
        for blob, piece in zip(blobs, rest, strict=True):
            properties += blob.reference_json + piece
        made, but_texts = self._made, self._cuts if own and blobs else None
        return Compiled(
            made.outline, properties, blobs, (), made.registrations, made.longest, but_texts
        )
