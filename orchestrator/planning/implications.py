"""What the events of resources have of their plans, made once for all hosts (controller).

What comes a second time is kept; of a resource that no other host has nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from orchestrator.fleet.stable_turns import Form, Implied
from orchestrator.planning.compiled import Compiled
from orchestrator.planning.skeletons import Filled, Skeleton
from orchestrator.support.recurring import Recurring
from remote_runtime.events import EventMaker, secrets_of
from remote_runtime.expansion import implied_members, is_plain
from remote_runtime.masking import Mask

MOST_MASKS = 32
MOST_RESOURCES = 20_000
LONGEST_FRAMED = 4096  # characters, far below those at which an event is cut
_encode = json.JSONEncoder(separators=(",", ":")).encode
_TREE = '"$tree"'
"""What stands in a plan in the place of a folder, which an event names."""


class _Frame(NamedTuple):
    """The JSON text of what is implied of a resource, before and behind its properties."""

    before: str
    behind: str

    def around(self, properties: bytes) -> str:
        """The whole text."""
        return f"{self.before}{properties.decode('ascii')}{self.behind}"

    def form(self, skeleton: Skeleton) -> Form:
        """That of all resources that are this one but for their texts."""
        first, *rest = [piece.decode("ascii") for piece in skeleton.pieces]
        rest[-1] += self.behind
        return Form((self.before + first, *rest))


class _Known(NamedTuple):
    """By the text of a resource and the child manifest: which came, and what is implied of those
    that came again. ``forms`` are those of resources that hosts have alike but for their texts, and
    whether they ensure."""

    met: Recurring
    kept: dict[tuple[bytes, str], Implied]
    forms: dict[tuple[Skeleton, str], tuple[Form, bool]]


class Implications:
    """Thread-safe: at worst something is made twice. Hosts that mask the same share it."""

    def __init__(self) -> None:
        self._of_secrets = lru_cache(MOST_MASKS)(_nothing_yet)

    def masking(self, secrets: tuple[str, ...]) -> Masking:
        """Those of a host on which these texts are masked."""
        return Masking(*self._of_secrets(secrets), hides=bool(secrets))


def _nothing_yet(secrets: tuple[str, ...]) -> tuple[EventMaker, _Known]:
    return EventMaker(Mask(secrets)), _Known(Recurring(), {}, {})


class Masking:
    """What is implied of the resources of one host, which ``hides`` texts of its own or not."""

    def __init__(self, maker: EventMaker, known: _Known, *, hides: bool) -> None:
        self._maker = maker
        self._known = known
        self._hides = hides

    def of(self, entry: Compiled, manifest: str) -> Implied | None:
        """What is implied of a resource that stands in that child manifest; None where its event is
        told whole."""
        if isinstance(entry, Filled):
            known = self._known.forms.get((entry.skeleton, manifest))
            if known is not None:
                return self._own(entry, manifest, known)
        key = entry.json, manifest
        found = self._known.kept.get(key)
        if found is None and entry.outline.item.implied:
            found = self._made(entry, manifest, key)
        return found

    def _made(self, entry: Compiled, manifest: str, key: tuple[bytes, str]) -> Implied:
        """What is implied, which is kept when it comes again."""
        met, kept, forms = self._known
        text = key[0].decode("ascii") + manifest
        frame = self._frame(entry, manifest, text)
        ensures = entry.outline.ensure is not None
        if frame is not None and isinstance(entry, Filled) and len(text) <= LONGEST_FRAMED:
            skeleton = entry.skeleton
            form = _keep(forms, (skeleton, manifest), (frame.form(skeleton), ensures))
            return self._own(entry, manifest, form)
        if frame is None:
            said = self._said(entry, manifest, text)
        else:
            said = frame.around(entry.properties)
        if not met.again(key):
            return Implied.alone(said, ensures=ensures)
        return _keep(kept, key, Implied(Form((said,)), "", ensures))

    def _own(self, entry: Filled, manifest: str, known: tuple[Form, bool]) -> Implied:
        """What is implied of a resource of a known form."""
        own = entry.references()
        form, ensures = known
        if self._hides and not self._maker.leaves_plain(entry.outline.item, own):
            # A short secret can stand in a digest as well.
            text = entry.json.decode("ascii") + manifest
            return Implied.alone(self._said(entry, manifest, text), ensures=ensures)
        return Implied(form, own, ensures)

    def _said(self, entry: Compiled, manifest: str, text: str) -> str:
        """The JSON text of what is implied; ``text`` is that of all of the resource."""
        item = entry.item._replace(manifest=manifest)
        return _encode(implied_members(item, self._maker, text))

    def _frame(self, entry: Compiled, manifest: str, text: str) -> _Frame | None:
        """The frame of an event that shows all that the plan says, of which ``text`` is the JSON
        text; None where some of it is masked or cut. What files hold makes no difference to that,
        unless a secret stands in a digest.
        """
        outline = entry.outline
        if _TREE in text or not is_plain(outline.item, self._maker, text):
            return None
        more = {"alias": outline.item.alias, "manifest": manifest}
        told = "".join(_member(key, value) for key, value in more.items() if value)
        ensure = outline.ensure
        requested = "" if ensure is None else _member("requested_ensure", str(ensure))
        before = f'{outline.head.decode("ascii")}{told},"properties":'
        return _Frame(before, requested + "}")


K = TypeVar("K")
V = TypeVar("V")


def _keep(known: dict[K, V], key: K, value: V) -> V:
    """The value, or the one that another thread kept meanwhile."""
    if len(known) >= MOST_RESOURCES:
        known.clear()
    return known.setdefault(key, value)


@lru_cache(maxsize=1024)
def _member(key: str, value: str) -> str:
    return f',"{key}":{json.dumps(value)}'


def masked_texts(resources: Sequence[Compiled]) -> Iterator[str]:
    """What a target masks in all of a run because of these resources, with repetitions."""
    for entry in resources:
        item = entry.outline.item
        if item.secrets and not item.sensitive:
            yield from secrets_of(entry.item)
        if item.managed and entry.children:
            yield from masked_texts(entry.children)


def manifests(resources: Sequence[Compiled], within: str = "") -> Iterator[str]:
    """The child manifest that each resource stands in, pre-order."""
    for entry in resources:
        yield within
        if entry.children:
            yield from manifests(entry.children, entry.outline.item.applies)
