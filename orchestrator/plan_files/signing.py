"""Signatures of plans, created and checked with OpenSSH's ssh-keygen (controller).

``FILE.sig`` contains the signatures of a plan, one armored block after another. Each covers all
bytes of the plan. An ``allowed_signers`` file lists the people who may approve. It must be outside
of the checkout that they approve.
"""

import base64
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.manifest.identity import repository
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import InputError, Problem, UsageError

NAMESPACE = "ccm-plan"
SUFFIX = ".sig"
MAX_BYTES = 1 << 20
MAX_SIGNATURES = 50  # of one plan: each runs ssh-keygen several times
_SECONDS = 20.0
_BLOCK = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\n"
)


class Approval(NamedTuple):
    """The signatures that a push requires: by ``wanted`` different people listed in ``signers``."""

    signers: str
    wanted: int = 1


def sign(path: str, text: bytes, key: str) -> str:
    """Add a signature of a plan, whose bytes are ``text``, to its signature file; return that path.
    UsageError.
    """
    # ssh-keygen may prompt for a passphrase, so there is no timeout.
    done = _run(["-Y", "sign", "-q", "-n", NAMESPACE, "-f", key], text, None)
    if done.returncode or not _BLOCK.fullmatch(done.stdout):
        raise UsageError(f"ssh-keygen created no signature: {_said(done)}", hint="check --key")
    target = path + SUFFIX
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(done.stdout)
    except OSError as error:
        hint = "sign a copy in a directory that you own, and put its .sig there"
        raise UsageError(f"{target} cannot be written: {error.strerror}", hint=hint) from error
    return target


class Approvers(NamedTuple):
    """The ``people`` who approved a plan, and the reasons why other signatures do not count."""

    people: list[str]
    uncounted: list[str]


def check_approved(path: str, text: bytes, approval: Approval, manifest: str) -> list[str]:
    """The people who approved the plan whose bytes are ``text``; InputError if there are too few.

    The file of signers must be outside of the checkout with ``manifest``; UsageError.
    """
    _check_signers(approval.signers, manifest)
    approvers = _approvers_of(path, text, _signatures(path + SUFFIX), approval.signers)
    if len(approvers.people) < approval.wanted:
        number = f"{len(approvers.people)} of {approval.wanted} approvals"
        told = "; ".join(["", *approvers.uncounted])
        hint = f"the people in {approval.signers} approve with ccm plan sign"
        raise InputError([Problem(f"{path} has {number}{told}", None, hint, "input.approval")])
    return approvers.people


def find_approvers(
    path: str, text: bytes, *, signatures: bytes, signers: str, manifest: str
) -> Approvers:
    """The people who approved a plan, from the content of its signature file. UsageError,
    InputError."""
    _check_signers(signers, manifest)
    return _approvers_of(path, text, signatures, signers)


def _approvers_of(path: str, text: bytes, signatures: bytes, signers: str) -> Approvers:
    """Like ``find_approvers``, with a checked file of signers."""
    people: dict[str, str] = {}
    reason = []
    for key, block in _blocks(path + SUFFIX, signatures):
        person = _signer(text, block, signers)
        if not person:
            reason.append("one signature is not from an approver, or is not for this file")
        elif key in people.values() or person in people:
            reason.append(f"{person} has signed twice")
        else:
            people[person] = key
    return Approvers(sorted(people), list(dict.fromkeys(reason)))


def _check_signers(signers: str, manifest: str) -> None:
    """UsageError for a file of signers that the author of the plan could have written."""
    try:
        status = os.stat(signers)
    except OSError as error:
        raise UsageError(f"{signers} cannot be read: {error.strerror}", hint=_FORM) from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{signers} is not a file", hint=_FORM)
    if status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
        raise UsageError(
            f"{signers} is writable by other users",
            hint="only root or you may write to it: chmod go-w",
        )
    real = os.path.realpath(signers)
    beside = os.path.dirname(os.path.realpath(manifest))
    top = os.path.realpath(repository(manifest) or beside)
    if os.path.commonpath([real, top]) == top:
        raise UsageError(
            f"{signers} is inside the checkout of the manifest",
            hint="store the list of approvers outside of it, for example in /etc/ccm",
        )


_FORM = "specify an allowed_signers file; see ssh-keygen(1)"


def _signatures(path: str) -> bytes:
    """Return the content of a signature file; empty if it does not exist."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error


def _blocks(path: str, text: bytes) -> Iterator[tuple[str, bytes]]:
    """Each signature of a signature file with the public key that it claims."""
    if len(text) > MAX_BYTES or _BLOCK.sub(b"", text).strip():
        raise _unreadable(path, "it does not consist of SSH signatures")
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) > MAX_SIGNATURES:
        raise _unreadable(path, f"it contains more than {MAX_SIGNATURES} signatures")
    for found in blocks:
        try:
            blob = base64.b64decode(found[1], validate=False)
        except ValueError as error:
            raise _unreadable(path, "a signature is damaged") from error
        length = int.from_bytes(blob[10:14], "big")  # after the magic and the version
        yield blob[14 : 14 + length].hex(), found[0]


def _unreadable(path: str, reason: str) -> InputError:
    hint = "remove it and sign again"
    return InputError([Problem(f"{path} cannot be read: {reason}", None, hint, "input.approval")])


def _signer(text: bytes, block: bytes, signers: str) -> str:
    """The signer of these bytes, by the name in the signers' file; "" for an invalid signature."""
    with tempfile.NamedTemporaryFile(prefix="ccm-", suffix=SUFFIX) as file:
        file.write(block)
        file.flush()
        asked = _run(["-Y", "find-principals", "-s", file.name, "-f", signers], b"", _SECONDS)
        for name in asked.stdout.decode("utf-8", "replace").splitlines():
            words = ["-Y", "verify", "-f", signers, "-I", name, "-n", NAMESPACE, "-s", file.name]
            if asked.returncode == 0 and _run(words, text, _SECONDS).returncode == 0:
                return one_line(name, 200)
    return ""


def _run(
    words: list[str], given: bytes, seconds: float | None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *words], input=given, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        hint = "install OpenSSH's client, 8.1 or newer"
        raise UsageError(f"ssh-keygen cannot be run: {error}", hint=hint) from error


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return one_line(done.stderr.decode("utf-8", "replace"), 300) or "no reason given"
