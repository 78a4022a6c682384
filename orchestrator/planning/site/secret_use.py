"""The uses of a secret: the resources that change if its value changes (controller)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from orchestrator.expressions import EvaluationError
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.formats import document_of, encrypted_values
from orchestrator.secrets.key_sources import KeySources
from orchestrator.secrets.keyring import inline_key
from orchestrator.secrets.lookup import SecretLookup
from orchestrator.secrets.reference import calls_in, parse_reference
from orchestrator.secrets.scan import text_of

if TYPE_CHECKING:
    from orchestrator.planning.site.manifest_walk import Walk
    from orchestrator.planning.site.manifests import AppliedManifest

_DUMMY = "ccm-secret-of-no-value-{}"


class SecretUse(NamedTuple):
    """The resources of a host that a secret reaches, and how many could not be examined."""

    host: str
    resources: tuple[str, ...]
    unknown: int


class ExaminedSite(Protocol):
    """The interface that a planner must provide."""

    def use_secrets(self, secrets: SecretLookup) -> None:
        """Use this source of secrets."""

    def examined(self, host: Any) -> ExaminedResources:
        """The results of a host's resources."""


class ExaminedResources(NamedTuple):
    """The results of a host's resources, by ``type#name``, and the number of unknown ones."""

    digests: Mapping[str, bytes]
    unknown: int


def examine_resources(walk: Walk, root: AppliedManifest) -> ExaminedResources:
    """The results of a host's resources, from a visit of its manifests."""
    walk.examine(root)
    digests: dict[str, bytes] = {}
    for index, entry in enumerate(walk.resources):
        text = entry.json
        if index in walk.deferred_templates:
            declared, scope, _ = walk.deferred_templates[index]
            for reference, _ in calls_in(repr(declared.raw)):
                try:
                    text += str(scope.secret(frozenset((reference,)), reference)).encode()
                except EvaluationError:
                    continue
        digests[entry.outline.identity] = digests.get(entry.outline.identity, b"") + text
    return ExaminedResources(digests, len(walk.unknown()))


class DummySecrets(SecretLookup):
    """Returns a dummy string for each secret. The string for ``name`` contains ``variant``."""

    def __init__(self, name: str, variant: str) -> None:
        super().__init__(KeySources(), os.curdir)
        self._name = name
        self._variant = variant

    def __call__(self, text: str, directory: str, is_bounded: bool = False) -> str:
        """Return the string for a reference."""
        source, _, path = self._name.partition("#")
        given, _, below = text.partition("#")
        is_same = text == self._name or (given == source and not path)
        if given == source and path and below:
            is_same = f"{below}.".startswith(f"{path}.") or f"{path}.".startswith(f"{below}.")
        if given == source and not below:
            is_same = True
        return self._of(text, is_same)

    def inline(self, tag: str, text: str) -> str:
        """Return the string for an encrypted value."""
        key = inline_key(tag, text)
        return self._of(key, key == self._name)

    def whole(self, path: str) -> str:
        """An encrypted file of data has no known keys."""
        return "{}"

    def _of(self, text: str, is_named: bool) -> str:
        return _DUMMY.format(self._variant if is_named else "") + text


def names_of(name: str) -> list[str]:
    """The names of a secret in a run: the reference itself, and its encrypted values in a data
    file. SecretError.
    """
    try:
        reference = parse_reference(name)
    except ValueError as error:
        raise SecretError(str(error), "secret.reference") from error
    text = None if reference.is_command else text_of(reference.source)
    if text is None or ("!vault" not in text and "!age" not in text):
        return [name]
    path = reference.path or ()
    inline_keys = [
        inline_key(node.tag, node.text)
        for keys, node in encrypted_values(document_of(text, reference.source))
        if keys[: len(path)] == path or (keys[:1] == ("data",) and keys[1 : 1 + len(path)] == path)
    ]
    return [name, *inline_keys]


def secret_use(
    make: Callable[[], ExaminedSite], hosts: Sequence[Any], names: Sequence[str]
) -> list[SecretUse]:
    """The use of a secret on each host, by its references or keys of inline values.

    ``make`` returns a new planner of the site each time. No host is contacted and nothing is
    decrypted: plans are made twice, with different strings in place of the secret.
    """
    uses: dict[str, dict[str, None]] = {host.name: {} for host in hosts}
    unknown = dict.fromkeys(uses, 0)
    for name in names:
        planners = []
        for variant in ("a", "b"):
            planner = make()
            planner.use_secrets(DummySecrets(name, variant))
            planners.append(planner)
        for host in hosts:
            first, second = (planner.examined(host) for planner in planners)
            unknown[host.name] = max(unknown[host.name], first.unknown)
            for identity in dict.fromkeys([*first.digests, *second.digests]):
                if first.digests.get(identity) != second.digests.get(identity):
                    uses[host.name][identity] = None
    return [SecretUse(name, tuple(uses[name]), unknown[name]) for name in uses]
