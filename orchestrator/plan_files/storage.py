"""Reads and writes plan files (controller)."""

import hashlib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import schemas
from orchestrator.plan_files.content_limits import fault_of
from orchestrator.plan_files.member_reader import UnknownMemberError, members_of
from orchestrator.plan_files.plan_detection import PROTOCOL, is_plan
from orchestrator.plan_files.plan_file import (
    FORMAT,
    PlanFile,
    canonical,
    id_of,
)
from orchestrator.support.atomic_file import replacing, unwritable
from orchestrator.support.file_trust import PathStatus, entries_above, require_own
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import InputError, Problem, UsageError
from schemas.fast_validation import fits

MAX_BYTES = 512 << 20
_FORMAT = re.compile(rb'"format": ?(\d{1,9})[,}]')
_ANEW = "create a new plan with ccm plan"


def manifest_of(path: str) -> str:
    """The manifest of a plan; "" if unknown, which readers of the plan report."""
    try:
        return str(members_of(read_text(path).decode(), _members())["manifest"])
    except (InputError, ValueError, RecursionError, KeyError):
        return ""


def write_plan(plan: PlanFile, path: str) -> None:
    """Write a plan atomically, with mode 0600. UsageError; InputError for invalid content."""
    fault = fault_of(plan.record, canonical(plan.record).decode())
    if fault:
        hint = "remove control characters from the names of files, hosts and data"
        raise _broken(path, f"is not written: it would contain {fault}", hint)
    text = text_of(plan.record)
    try:
        with replacing(Path(path), durable=True) as out:
            out.write(text)
    except OSError as error:
        raise _unwritable(path, error.strerror) from error


def text_of(record: Mapping[str, Any]) -> bytes:
    """The text of a plan file: a digest of the rest, followed by the rest."""
    rest = {key: value for key, value in record.items() if key != "protocol"}
    text = canonical(rest)[1:] + b"\n"
    return _head(hashlib.sha256(text).hexdigest()) + text


def _head(digest: str) -> bytes:
    return canonical({"protocol": PROTOCOL, "digest": digest})[:-1] + b","


def require_writable(path: str) -> None:
    """UsageError if a plan cannot be written there. Call it before a long preview."""
    if reason := unwritable(path):
        raise _unwritable(path, reason)
    if os.path.isfile(path) and os.path.getsize(path) and not is_plan(path):
        raise _unwritable(path, "it exists and is not a plan")


def _unwritable(path: str, reason: str | None) -> UsageError:
    return UsageError(f"{path} cannot be written: {reason}", hint="specify a writable file with -o")


def read_plan(path: str) -> PlanFile:
    """The plan in a file, expired or not; InputError for an invalid one."""
    return parse_plan(path, read_text(path))


def read_text(path: str, own: bool = False) -> bytes:
    """The bytes of a plan file, which is read once; InputError.

    ``own``: InputError also if another user owns the file, or can write to it or its directory.
    """
    try:
        looked = entries_above(path) if own else []
        # Opening a pipe would block before its type is known.
        with open(path, "rb", opener=_open_at_once if own else None) as file:
            if own:
                _require_own(path, [*looked, (path, os.fstat(file.fileno()))])
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _broken(path, f"cannot be read: {error.strerror}", "check the path") from error
    if len(text) > MAX_BYTES:
        raise _broken(path, f"is larger than {MAX_BYTES >> 20} MiB", "it is not a plan")
    return text


def require_own_file(path: str) -> None:
    """InputError for a plan that a push without signatures does not accept; OSError."""
    _require_own(path, entries_above(path))


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _require_own(path: str, looked: list[PathStatus]) -> None:
    require_own(
        looked,
        f"what a push of {path} does",
        "have the plan approved (ccm plan sign, ccm push --signers)",
    )
    if not stat.S_ISREG(looked[-1][1].st_mode):
        raise _broken(path, "is not a regular file", "copy the plan to a file that you own")


def parse_plan(path: str, text: bytes) -> PlanFile:
    """The plan in the bytes of a file; InputError for an invalid one."""
    return PlanFile(_record(path, text))


def _record(path: str, text: bytes) -> dict[str, Any]:
    """The validated record of a plan's text."""
    try:
        record = members_of(text.decode(), _members())
    except UnknownMemberError as error:
        theirs = _FORMAT.search(text)
        if error.before.get("protocol") == PROTOCOL and theirs:
            _require_format(path, int(theirs[1]))
        if error.before.get("protocol") != PROTOCOL:
            raise _broken(path, "is not a plan created by ccm", _ANEW) from error
        where = f"the unknown member {one_line(error.name, 40)!r} at character {error.at:,}"
        raise _altered(path, f": it has {where}") from error
    except (ValueError, RecursionError) as error:
        if text.startswith(b"{") and not text.rstrip().endswith(b"}"):
            raise _broken(path, "is truncated", "copy the whole file again") from error
        raise _broken(path, "is not a plan, or has been altered: it is not JSON", _ANEW) from error
    if record.get("protocol") != PROTOCOL:
        raise _broken(path, "is not a plan created by ccm", _ANEW)
    _require_format(path, record.get("format"))
    head = _head(str(record.pop("digest", "")))
    digest = hashlib.sha256(memoryview(text)[len(head) :]).hexdigest()
    check = fits(schemas.load("kept_plan"))
    assert check is not None
    try:
        whole = text.startswith(_head(digest)) and check(record)
        fault = fault_of(record, canonical(record).decode()) if whole else ""
    except RecursionError:
        whole, fault = False, ""
    if fault:
        raise _broken(
            path, f"contains {fault}: ccm writes no such plan", f"do not push it; {_ANEW}"
        )
    if not whole or not _is_consistent(record):
        raise _altered(path)
    return record


def _members() -> set[str]:
    return {*schemas.load("kept_plan")["properties"], "digest"}


def _require_format(path: str, theirs: object) -> None:
    if theirs != FORMAT:
        raise _broken(
            path,
            f"is a plan of format {str(theirs)[:20]}, but this ccm reads format {FORMAT}",
            "push it with the ccm that created it, or create a new plan",
        )


def _is_consistent(record: dict[str, Any]) -> bool:
    """Whether all indexes of hosts exist, each wave has a stage, and the ID matches."""
    items, outcomes = len(record["items"]), len(record["outcomes"])
    for planned in record["hosts"].values():
        if max(planned["items"], default=-1) >= items:
            return False
        if max(planned["outcomes"], default=-1) >= outcomes:
            return False
        if len(planned["outcomes"]) != len(planned["observed"]):
            return False
    waves = record.get("rollout")
    if waves and (
        len(waves["waves"]) != len(waves["stages"])
        or set(waves["stages"]) != waves["limits"].keys()
    ):
        return False
    return id_of(record) == str(record["id"])


def _altered(path: str, how: str = "") -> InputError:
    return _broken(path, f"has been altered since ccm created it{how}", f"do not push it; {_ANEW}")


def _broken(path: str, what: str, hint: str) -> InputError:
    return InputError([Problem(f"{path} {what}", None, hint, "input.plan")])
