"""The manifests of a host that are not known until it is contacted (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.language.errors import NEEDS

if TYPE_CHECKING:
    from orchestrator.manifest.declared_resource import DeclaredResource
    from orchestrator.planning.site.manifests import RunManifest

_MAX_NAMES = 3


class UnknownManifest(NamedTuple):
    """The part that needs an input of this ``kind``: the child manifest of an ``apply`` resource,
    or the resources of a ``template``.
    """

    kind: str
    apply: str = ""
    template: str = ""


def unknown_in(
    part: RunManifest, by: DeclaredResource | None, kind: str
) -> Iterator[UnknownManifest]:
    """The unknown parts of a manifest, applied ``by`` a resource, whose data or resources are
    unknown.

    For a manifest without a template, the number of resources is known.
    """
    template = part.site.resources_template
    if template is not None:
        yield UnknownManifest(kind, by.id) if by else UnknownManifest(kind, template=template.name)
    for declared in part.declared.declared:
        if declared.type.applies:
            yield UnknownManifest(kind, declared.id)


def in_words(unseen: Iterable[UnknownManifest]) -> list[str]:
    """List the unchecked parts, and their missing inputs; one string for each input."""
    every = list(dict.fromkeys(unseen))
    texts = []
    for kind, need in NEEDS.items():
        applies = [one.apply for one in every if one.kind == kind and one.apply]
        templates = [one.template for one in every if one.kind == kind and one.template]
        for names, what in (
            (applies, "the child manifests of" if len(applies) > 1 else "the child manifest of"),
            (templates, "the resources from"),
        ):
            if names:
                verb = "needs" if applies and len(names) == 1 else "need"
                texts.append(f"{what} {listed(names)}, which {verb} {need}")
    return texts


def listed(names: list[str]) -> str:
    """The first names, and the number of remaining ones."""
    remaining = len(names) - _MAX_NAMES
    if remaining > 0:
        return f"{', '.join(names[:_MAX_NAMES])} and {remaining} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
