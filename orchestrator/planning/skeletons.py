"""Resources that hosts have alike but for the texts of their files (controller)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestrator.planning.blobs import TextBlob
from orchestrator.planning.compiled import Compiled, Outline


class Skeleton(NamedTuple):
    """A compiled resource without its texts: ``pieces`` are the JSON text of its properties, cut
    where these are referred to."""

    outline: Outline
    pieces: tuple[bytes, ...]
    registrations: tuple[Mapping[str, Any], ...]
    longest: float

    @classmethod
    def of(cls, made: Compiled) -> Skeleton | None:
        """That of a resource without children; None where a reference is not found."""
        pieces = []
        rest = made.properties
        for blob in made.blobs:
            piece, found, rest = rest.partition(blob.reference_json)
            if not found:
                return None
            pieces.append(piece)
        return cls(made.outline, (*pieces, rest), made.registrations, made.longest)

    def filled(self, texts: Sequence[bytes]) -> Compiled:
        """The resource with these texts, one for each reference."""
        blobs = tuple(map(TextBlob, texts))
        properties = self.pieces[0]
        for blob, piece in zip(blobs, self.pieces[1:], strict=True):
            properties += blob.reference_json + piece
        return Compiled(self.outline, properties, blobs, (), self.registrations, self.longest)
