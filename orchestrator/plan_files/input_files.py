"""The input files of a plan, and whether they changed (controller)."""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from orchestrator.plan_files.digests import secret_digest
from orchestrator.planning.content.blobs import MAX_SEARCHED
from orchestrator.sources.address import is_url, parse_address
from orchestrator.sources.cache import cache_directory
from remote_runtime.errors import InputError, Problem
from remote_runtime.reporting.masking import Mask

_BLOCK = 1 << 20
_SLOW = "scrypt:"


def here(path: str) -> str:
    """A path in the form used in plans: relative to the working directory if possible; a URL
    unchanged.
    """
    if is_url(path):
        return path
    path = os.path.abspath(path)
    below = os.path.relpath(path)
    return path if below.startswith(os.pardir) else below


def digests_of(
    paths: Iterable[str | Path],
    secrets: Collection[str],
    salt: str,
    texts: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The digest of each file, by its path in the plan; None for anything but a regular file.

    A file that may contain one of the ``secrets`` gets a digest for which guessing is slow. For a
    URL, the digest is that of its content in ``texts``.
    """
    mask = Mask(secrets) if secrets else None
    every = list(map(str, paths))
    below = f"{cache_directory()}{os.sep}"  # bound by the digest in the site
    names = sorted({here(path) for path in every if os.path.isfile(path) and below not in path})
    digests = {name: _digest(name, _may_hold(name, mask), salt) for name in names}
    digests |= {path: _named_in(path) for path in every if is_url(path) and "#" in path}
    slow = mask is not None
    return digests | {url: _told(_of_text(text), slow, salt) for url, text in (texts or {}).items()}


def missing_inputs(record: Mapping[str, Any]) -> list[str]:
    """The manifest, inventory, data and facts of a plan that have no digest in it.

    An inventory that is a list of names (``web1,web2``) is not a file.
    """
    known = record["files"]
    lists = {one for one in record["inventory"] if "," in one and not os.path.lexists(one)}
    named = [record["manifest"], *record["inventory"], *record["hiera"], *record["facts"]]
    return [one for one in dict.fromkeys(named) if one not in known and one not in lists]


def check_whole(path: str, record: Mapping[str, Any]) -> None:
    """InputError for a plan file that is not bound to all of its inputs."""
    problems = [
        Problem(
            f"{path} names {name} without a digest, so ccm cannot check its content",
            None,
            "do not push it; create a new plan with ccm plan",
            "input.plan",
        )
        for name in missing_inputs(record)
    ]
    if problems:
        raise InputError(problems)


def check_unchanged(
    files: Mapping[str, str], salt: str, texts: Mapping[str, str] | None = None
) -> None:
    """InputError with every input that changed since the plan was created.

    ``texts`` is the content of the URLs in the plan.
    """
    problems = []
    for name, known in files.items():
        slow = known.startswith(_SLOW)
        if is_url(name):
            text = (texts or {}).get(name)
            if text is None and _named_in(name) == known:
                continue  # an archive, which is read by that digest only
            if text is not None and _told(_of_text(text), slow, salt) == known:
                continue
            message = f"{Mask().text(name)} has changed since the plan was created"
            hint = "create a new plan"
        elif not os.path.isfile(name):
            message = f"{name} is missing, and the plan was created from it"
            hint = "push it from the same directory of the same checkout"
        elif _digest(name, slow, salt) != known:
            message = f"{name} has changed since the plan was created"
            hint = f"check out the version of {name} that was planned, or create a new plan"
        else:
            continue
        problems.append(Problem(message, None, hint, "input.plan"))
    if problems:
        raise InputError(problems)


def _may_hold(name: str, mask: Mask | None) -> bool:
    """Whether a file may contain a secret, which a document can write in many ways."""
    if mask is None:
        return False
    if name.endswith((".yaml", ".yml", ".json")) or os.path.getsize(name) > MAX_SEARCHED:
        return True
    text = Path(name).read_text(encoding="utf-8", errors="replace")
    return mask.text(text) != text


def _digest(name: str, slow: bool, salt: str) -> str:
    digest = hashlib.sha256()
    with open(name, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return _told(digest.digest(), slow, salt)


def _named_in(url: str) -> str:
    """The digest inside a URL."""
    return f"sha256:{parse_address(url).digest}"


def _of_text(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _told(digest: bytes, slow: bool, salt: str) -> str:
    return f"{_SLOW}{secret_digest(digest, salt)}" if slow else f"sha256:{digest.hex()}"
