"""The part of a manifest that ``--only``, ``--tags`` and ``--skip`` select (controller)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.plan_options import PlanOptions
from remote_runtime.errors import Problem
from remote_runtime.plan_item import SELECTION
from remote_runtime.text.suggestions import nearest

ONLY, TAGS, SKIP = SELECTION
_TEMPLATE = re.compile(r"\{\{|\$\{")
_GLOB = re.compile(r"[*?\[]")


class NamePattern(NamedTuple):
    """``TYPE#GLOB``: matches the resources of a type by name or alias; ``*`` matches any string."""

    option: str
    text: str

    @property
    def _type(self) -> str:
        return self.text.partition("#")[0]

    @property
    def _name(self) -> str:
        return self.text.partition("#")[2] or "*"

    def fits(self, type_: str, names: Iterable[str]) -> bool:
        """Whether it matches a resource with these names, and perhaps others."""
        known = self._name == "*" or any(_fits(self._name, name) for name in names)
        return known and _fits(self._type, type_)

    def may_fit(self, declared: DeclaredResource) -> bool:
        """Whether it could match a resource whose names are known only per host."""
        if not _fits(self._type, declared.type.name):
            return False
        begin = _GLOB.split(self._name, maxsplit=1)[0]
        for text in open_names(declared):
            known = _TEMPLATE.split(text, maxsplit=1)[0]
            length = min(len(begin), len(known))
            if begin[:length] == known[:length]:
                return True
        return False

    @property
    def as_given(self) -> str:
        """The pattern as the user wrote it."""
        return f"--{self.option} {self.text!r}"


def _fits(glob: str, text: str) -> bool:
    return glob == text or fnmatch.fnmatchcase(text, glob)


def known_names(declared: DeclaredResource) -> list[str]:
    """The name and alias of a resource, if they are the same on every host."""
    names = [declared.name] if isinstance(declared.name, str) else []
    alias = declared.values.get("alias")
    return [*names, *([alias] if isinstance(alias, str) else [])]


def open_names(declared: DeclaredResource) -> list[str]:
    """The names that are templates, as written."""
    names = [] if isinstance(declared.name, str) else [declared.name_node.text]
    return [*names, *([declared.raw["alias"]] if "alias" in declared.templated else [])]


class InheritedSelection(NamedTuple):
    """The selection state that a resource inherits from its parents: whether ``only`` and ``skip``
    match one of them, and their tags.
    """

    only: bool = False
    skip: bool = False
    tags: frozenset[str] = frozenset()

    def joined(self, tags: Iterable[str], *, only: bool, skip: bool) -> InheritedSelection:
        """The state for a child with these tags; ``only`` and ``skip`` match the child itself."""
        return InheritedSelection(self.only or only, self.skip or skip, self.tags.union(tags))


class Selection:
    """The selection of the options.

    A resource is selected if every kind of option in use selects it: an ``--only`` matches it or a
    parent, it has one of the tags and none of those after a ``-``, and no ``--skip`` matches.
    ``problems`` receives options that are invalid for any manifest; ``types`` are the names of
    types, which may be given without a name.
    """

    def __init__(self, options: PlanOptions, types: Sequence[str], problems: list[Problem]) -> None:
        self.only = _patterns(ONLY, options.only, types, problems)
        self.skip = _patterns(SKIP, options.skip, types, problems)
        self.tags, self.not_tags = _words(options.tags, problems)

    def leaves_out(self, whole: InheritedSelection) -> str:
        """The option that excludes a resource; "" if it is selected."""
        if whole.skip:
            return SKIP
        if self.only and not whole.only:
            return ONLY
        if self.not_tags & whole.tags or (self.tags and not self.tags & whole.tags):
            return TAGS
        return ""


def _patterns(
    option: str, texts: Sequence[str], types: Sequence[str], problems: list[Problem]
) -> tuple[NamePattern, ...]:
    patterns = []
    for text in texts:
        type_, _, name = text.partition("#")
        if (type_ and name) or text in types:
            patterns.append(NamePattern(option, text))
            continue
        likely = nearest(text, types)
        hint = "write TYPE#NAME, as in 'file#/etc/nginx/*', or a type alone"
        hint = f"did you mean {likely}? {hint}" if likely else hint
        problems.append(_problem(f"--{option} {text!r} names no resource", hint))
    return tuple(patterns)


def _words(texts: Sequence[str], problems: list[Problem]) -> tuple[frozenset[str], frozenset[str]]:
    """The included and the excluded tags."""
    words = [word.strip() for text in texts for word in text.split(",")]
    if not all(word.removeprefix("-") for word in words):
        problems.append(_problem("--tags has an empty tag", "write --tags web,-slow"))
    unwanted = {word[1:] for word in words if word.startswith("-")}
    wanted = {word for word in words if word and not word.startswith("-")}
    for word in sorted(wanted & unwanted):
        problems.append(_problem(f"--tags both selects and excludes {word!r}", "keep one"))
    return frozenset(wanted), frozenset(unwanted - {""})


def refusals(
    selection: Selection, rows: Sequence[tuple[DeclaredResource, ...]], is_whole: bool
) -> list[Problem]:
    """The options that certainly select nothing, for any host.

    ``rows`` has the resources that are known in advance, each after its parents; ``is_whole``:
    there are no others.
    """
    if not is_whole:
        return []
    every = [row[-1] for row in rows]
    problems = [
        _problem(f"{pattern.as_given} matches no resource of the manifest", _hint(pattern, every))
        for pattern in (*selection.only, *selection.skip)
        if not any(_surely(pattern, one) or pattern.may_fit(one) for one in every)
    ]
    tags = sorted({tag for one in every for tag in one.tags})
    for word in sorted((selection.tags | selection.not_tags).difference(tags)):
        likely = nearest(word, tags)
        hint = f"did you mean {likely}?" if likely else f"tags: {', '.join(tags)}"
        hint = hint if tags else "add a tag to a resource: tags: [web]"
        problems.append(_problem(f"--tags: no resource has the tag {word!r}", hint))
    if not problems and not any(_may_choose(selection, row) for row in rows):
        hint = "a resource must match --only and --tags, and not match --skip"
        problems.append(_problem("together the options select no resource of the manifest", hint))
    return problems


def _may_choose(selection: Selection, row: Iterable[DeclaredResource]) -> bool:
    above = InheritedSelection()
    for one in row:
        only = any(_surely(p, one) or p.may_fit(one) for p in selection.only)
        skip = any(_surely(p, one) for p in selection.skip)
        above = above.joined(one.tags, only=only, skip=skip)
    return not selection.leaves_out(above)


def _surely(pattern: NamePattern, declared: DeclaredResource) -> bool:
    return pattern.fits(declared.type.name, known_names(declared))


def _hint(pattern: NamePattern, every: Iterable[DeclaredResource]) -> str:
    names = [f"{one.type.name}#{name}" for one in every for name in known_names(one)]
    likely = nearest(pattern.text, names)
    return f"did you mean {likely}?" if likely else "ccm render shows the resources of each host"


def _problem(message: str, hint: str) -> Problem:
    return Problem(message, None, hint, "input.selection")
