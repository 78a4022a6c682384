"""The secrets of a manifest, which are never sent to a browser (controller).

The page has a mark such as ``«secret 1»`` in place of each: values hidden by ``x-ccm-secret`` and
``sensitive``, values marked ``@secret`` in the data, and any other occurrence of the same text. A
returned mark is replaced by the original value, byte for byte. It is refused anywhere else, because
it would be shown there.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping as MappingNode
from inventory.yaml_document import parse_data
from orchestrator.manifest.annotations import read_annotations
from orchestrator.manifest.declared_resource import NEVER_SECRET
from orchestrator.manifest.resource_types import Type, Types
from orchestrator.studio.design.manifest_text import ManifestText
from orchestrator.studio.design.value_spans import Path, Span
from orchestrator.studio.design.yaml_text import YamlText
from orchestrator.studio.path_guard import refusal
from remote_runtime.errors import InputError
from remote_runtime.reporting.masking import SHORTEST, strings_of

_REFERENCE = re.compile(r"\s*\{\{\s*(Data|Facts|Host|item)(\.\w+)*\s*\}\}\s*")
_MARK = re.compile(r'(["\']?)«secret (\d+)»\1')
REFUSED = "input.secret"


class Secret(NamedTuple):
    """The source text of a secret, and its ``value``; ``whole``: it is a complete value.

    ``by_place``: its property is secret; otherwise, it only contains the same text as a secret.
    """

    written: str
    value: str
    whole: bool
    by_place: bool


class MaskedText(NamedTuple):
    """A document without secrets, and the secrets behind its marks, counted from 1."""

    text: str
    secrets: tuple[Secret, ...]


class HiddenValues:
    """The secrets of one manifest; ``known`` has additional strings to hide, such as
    earlier secrets.
    """

    def __init__(self, manifest: ManifestText, types: Types, known: Iterable[str] = ()) -> None:
        self.manifest = manifest
        found = _spans(manifest, types)
        self.places = frozenset(one.start for one in found)
        """Where values of secret properties begin."""
        self.values = frozenset(known) | {one.text for one in found}
        """The strings to hide."""
        for _, span in manifest.yaml.root.walk() if manifest.yaml.root else ():
            if span.kind == "scalar" and self.is_in(span.text):
                found.append(span)
        self._spans = sorted({one.start: one for one in found}.values(), key=_start)

    def hides(self, path: Path) -> bool:
        """Whether a value is a secret or contains one."""
        span = self.manifest.yaml.span(path)
        if span is not None and any(
            span.start <= one.start and one.end <= span.end for one in self._spans
        ):
            return True
        yaml = self.manifest.yaml
        texts = strings_of(yaml.value(path)) if yaml.has(path) else []
        return any(map(self.is_in, texts))

    def is_in(self, text: str) -> bool:
        """Whether a string contains a secret."""
        return any(one in text for one in self.values if len(one) >= SHORTEST)

    def masked(self) -> MaskedText:
        """Return the document for a browser."""
        text, parts, secrets = self.manifest.text, list[str](), list[Secret]()
        at = 0
        for span in self._spans:
            parts.append(self._without_values(text[at : span.start], secrets))
            written = text[span.start : span.end]
            secrets.append(Secret(written, span.text, True, span.start in self.places))
            parts.append(f'"«secret {len(secrets)}»"')
            at = span.end
        parts.append(self._without_values(text[at:], secrets))
        return MaskedText("".join(parts), tuple(secrets))

    def _without_values(self, text: str, secrets: list[Secret]) -> str:
        """The text with a mark in place of each further occurrence of a secret."""
        found = sorted((one for one in self.values if len(one) >= SHORTEST), key=len, reverse=True)
        if not found:
            return text

        def mark(match: re.Match[str]) -> str:
            secrets.append(Secret(match.group(), match.group(), False, False))
            return f"«secret {len(secrets)}»"

        return re.sub("|".join(map(re.escape, found)), mark, text)

    @property
    def starts(self) -> frozenset[int]:
        """The start positions of hidden values."""
        return frozenset(one.start for one in self._spans)


def restored(text: str, masked: MaskedText, types: Types, name: str) -> str:
    """The text that a browser sent, with marks replaced by their secrets. InputError for an unknown
    mark, for one in a place where its secret would be shown, and for invalid YAML.
    """
    parts, at, starts = list[str](), 0, list[tuple[int, int]]()
    length = 0
    for match in _MARK.finditer(text):
        number = int(match[2])
        if not 0 < number <= len(masked.secrets):
            raise _refusal(f"there is no secret {number}")
        secret = masked.secrets[number - 1]
        around = "" if secret.whole else match[1]
        before = text[at : match.start()]
        length += len(before) + len(around)
        if secret.whole:
            starts.append((length, number))
        parts += [before, around, secret.written, around]
        length += len(secret.written) + len(around)
        at = match.end()
    found = "".join([*parts, text[at:]])
    if not parts:
        return found
    hidden = HiddenValues(ManifestText(YamlText(found, name)), types)
    for start, number in starts:
        is_secret = masked.secrets[number - 1].by_place
        if start not in (hidden.places if is_secret else hidden.starts):
            raise _refusal(f"secret {number} would be shown here")
    shown = hidden.masked().text
    if any(one.value in shown for one in masked.secrets if len(one.value) >= SHORTEST):
        raise _refusal("a secret would be shown here")
    return found


def _refusal(reason: str) -> InputError:
    hint = "keep the marks unchanged, or replace them with another value"
    return refusal(reason, hint, REFUSED)


def _spans(manifest: ManifestText, types: Types) -> list[Span]:
    """The scalars that are secrets."""
    found: dict[int, Span] = {}
    for path in (*_hidden_properties(manifest, types), *_hidden_data(manifest)):
        span = manifest.yaml.span(path)
        for _, below in span.walk() if span is not None else ():
            if below.kind == "scalar" and below.text and not _REFERENCE.fullmatch(below.text):
                found[below.start] = below
    return list(found.values())


def _start(span: Span) -> int:
    return span.start


def _hidden_properties(manifest: ManifestText, types: Types) -> Iterator[Path]:
    data = manifest.yaml.data or {}
    ccm = data.get("ccm")
    defaults = ccm.get("defaults") if isinstance(ccm, dict) else None
    defaults = defaults if isinstance(defaults, dict) else {}
    sensitive = {name for name, one in defaults.items() if _is_sensitive(one)}
    lists = {one.path[:4] for one in manifest.resources if one.is_defaults}
    lists = {
        one.path[:4]
        for one in manifest.resources
        if one.path[:4] in lists and one.is_defaults and _is_sensitive(one.properties)
    }
    for name, properties in defaults.items():
        if isinstance(properties, dict):
            yield from _of_type(("ccm", "defaults", name), name, properties, types)
    for one in manifest.resources:
        properties = dict(one.properties)
        if one.type in sensitive or one.path[:4] in lists:
            properties.setdefault("sensitive", True)
        yield from _of_type(one.path, one.type, properties, types)


def _is_sensitive(properties: Any) -> bool:
    return isinstance(properties, dict) and properties.get("sensitive") is True


def _of_type(path: Path, name: str, properties: dict[str, Any], types: Types) -> Iterator[Path]:
    type_ = type_of(types, name)
    for key, value in properties.items():
        kind = type_.properties.get(key) if type_ else None
        if key in NEVER_SECRET:
            continue
        if type_ is None or _is_sensitive(properties) or (kind is not None and kind.secret):
            yield (*path, key)
        elif kind is not None and kind.secret_where:
            secrets = set(kind.secrets_in(value))
            for entry, one in value.items() if isinstance(value, dict) else ():
                for below, text in one.items() if isinstance(one, dict) else ():
                    if secrets.intersection(strings_of(text)):
                        yield (*path, key, entry, below)


def type_of(types: Types, name: str) -> Type | None:
    """The type with that name; None if it does not exist or its code cannot be loaded."""
    try:
        return types.get(name)
    except InputError:
        return None


def _hidden_data(manifest: ManifestText) -> Iterator[Path]:
    """The values marked ``@secret`` in the data, and the same keys of the overrides."""
    if "@secret" not in manifest.text:
        return
    root = parse_data(manifest.text, manifest.yaml.name, [])
    data = root.get("data") if isinstance(root, MappingNode) else None
    overrides = (manifest.yaml.data or {}).get("overrides")
    names = list(overrides) if isinstance(overrides, dict) else []
    for one in read_annotations(data, [], []):
        if one.word == "secret":
            for base in (("data",), *(("overrides", name) for name in names)):
                yield from _below(manifest, base, one.path)


def _below(manifest: ManifestText, base: Path, path: tuple[str, ...]) -> Iterator[Path]:
    if not path:
        yield base
        return
    span = manifest.yaml.span(base)
    if span is not None and path[0] == "*":
        for at in range(len(span.values)):
            yield from _below(manifest, (*base, at), path[1:])
    elif span is not None:
        yield from _below(manifest, (*base, path[0]), path[1:])
