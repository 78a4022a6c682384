"""Digests that bind resources and their secrets to a plan (controller)."""

import functools
import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from orchestrator.plan_files.plan_file import canonical, digest_of
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.plan_item import Item
from remote_runtime.reporting.events import secrets_of
from remote_runtime.reporting.masking import MASKED, Mask

_COST = {"n": 1 << 14, "r": 8, "p": 1, "dklen": 16}  # some 40 ms and 16 MiB for each guess
_MARK = b"://"  # a login in a URL


class Desired(NamedTuple):
    """The digests of a resource, which has the ID ``type#name``.

    ``digest`` covers everything in its plan. If values are masked, it covers the rest, and
    ``secret`` covers everything; ``secret`` is never stored in plain form.
    """

    resource: str
    digest: str
    secret: bytes = b""


def desired_of(plan: HostPlan) -> list[Desired]:
    """The digests of every resource of a host's plan, in pre-order."""
    # A push has no earlier plans, so their secrets are not compared.
    mask = Mask(plan.own_secrets)
    masks = bool(plan.own_secrets)
    return [_desired(item, text, mask, masks) for item, text in plan.desired()]


def _desired(item: Item, text: bytes, mask: Mask, masks: bool) -> Desired:
    name = mask.text(item.id) if masks else item.id
    hidden = item.sensitive or item.redact_hash
    if not (masks or hidden or item.secrets or _MARK in text):
        return Desired(name, hashlib.sha256(text).hexdigest())
    entry = item.entry()
    shown = mask.extended(secrets_of(item)).value(_without_hashes(entry) if hidden else entry)
    if canonical(shown) == canonical(entry):
        return Desired(name, hashlib.sha256(text).hexdigest())
    return Desired(name, digest_of(shown), hashlib.sha256(text).digest())


def _without_hashes(value: Any) -> Any:
    """The value without hashes of content that contains a secret, because a short secret could be
    guessed.
    """
    if isinstance(value, dict):
        return {k: _without_hashes(v) for k, v in value.items()} if "$blob" not in value else MASKED
    return list(map(_without_hashes, value)) if isinstance(value, list | tuple) else value


@functools.lru_cache(maxsize=4096)
def secret_digest(value: bytes, salt: str) -> str:
    """The digest of a secret in a plan: guessing is slow, and useless for other plans."""
    return hashlib.scrypt(value, salt=salt.encode("ascii"), **_COST).hex()


def differing(planned: Iterable[dict[str, Any]], now: Iterable[Desired], salt: str) -> list[str]:
    """The resources whose desired state changed, with the reason as text."""
    before = list(planned)
    names = list(now)
    if [item["resource"] for item in before] != [item.resource for item in names]:
        return ["the resources or their order have changed"]
    told = []
    for old, new in zip(before, names, strict=True):
        if old["desired"] != new.digest:
            told.append(f"{new.resource} would be managed differently")
        elif ("secret" in old) != bool(new.secret):
            told.append(f"{new.resource} has different secrets")
        elif new.secret and secret_digest(new.secret, salt) != old["secret"]:
            told.append(f"{new.resource} has a different secret")
    return told
