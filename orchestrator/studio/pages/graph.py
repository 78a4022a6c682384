"""The references of a plan as a drawing, with an arc for each reference (controller)."""

from collections.abc import Sequence
from typing import NamedTuple

MAX_RESOURCES = 200
ROW = 22  # units of the drawing
LEFT = 130  # width of the arcs
WIDTH = 760
_NARROW, _WIDE = 14, LEFT - 10
_VERBS = {"subscribe": "subscribes to", "require": "requires", "apply": "is applied by"}


class Edge(NamedTuple):
    """``resource`` refers to ``other``; ``kind`` is ``subscribe``, ``require``, or ``apply`` if
    ``other`` applies it."""

    resource: str
    other: str
    kind: str


class Node(NamedTuple):
    """A resource: the position of its text, and its status."""

    name: str
    status: str
    y: int


class Arc(NamedTuple):
    """A reference: the path of its line, the status of its resource, and its meaning."""

    path: str
    status: str
    kind: str
    title: str


class DependencyGraph:
    """The resources that refer to others or that others refer to; ``left_out`` counts those beyond
    ``MAX_RESOURCES``.
    """

    def __init__(self, resources: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        linked = {name for edge in edges for name in edge[:2]}
        found = [one for one in resources if one[0] in linked]
        self.left_out = len(found[MAX_RESOURCES:])
        self.nodes = [
            Node(name, status, ROW * number + ROW // 2)
            for number, (name, status) in enumerate(found[:MAX_RESOURCES])
        ]
        self._at = {node.name: node for node in self.nodes}
        self.edges = [
            edge for edge in edges if edge.resource in self._at and edge.other in self._at
        ]
        self.width = WIDTH
        self.left = LEFT
        self.height = max(ROW, ROW * len(self.nodes))

    def arcs(self) -> list[Arc]:
        """An arc for each reference, wider if the resources are further apart."""
        longest = max((abs(self._span(edge)) for edge in self.edges), default=1)
        return [self._arc(edge, longest) for edge in self.edges]

    def _span(self, edge: Edge) -> int:
        return self._at[edge.resource].y - self._at[edge.other].y

    def _arc(self, edge: Edge, longest: int) -> Arc:
        begin, end = self._at[edge.other], self._at[edge.resource]
        reach = _NARROW + (_WIDE - _NARROW) * abs(self._span(edge)) // max(longest, 1)
        x = LEFT - reach
        path = f"M {LEFT} {begin.y} C {x} {begin.y} {x} {end.y} {LEFT} {end.y}"
        verb = _VERBS[edge.kind]
        title = f"{edge.resource} {verb} {edge.other}"
        return Arc(path, end.status, kind=edge.kind, title=title)
