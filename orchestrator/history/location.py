"""The location of a history, a directory or a studio, and errors of histories (controller)."""

import ipaddress
import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from orchestrator.sources.address import is_url
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError, UsageError


class HistoryError(CcmError):
    """The history refuses a run, or cannot be used in its current state."""

    default_kind = "history"


class HistoryUnreachableError(HistoryError):
    """The history cannot be reached now; a later attempt may succeed."""

    default_kind = "history.away"


TOKEN_VARIABLE = "CCM_HISTORY_TOKEN"
_MAX_LENGTH = 2_000  # characters


class HistoryLocation(NamedTuple):
    """The ``address`` of a history. ``token`` has the ``file`` or the ``command`` that knows the
    token for a studio.
    """

    address: str
    token: Mapping[str, str] = {}

    @property
    def is_studio(self) -> bool:
        """Whether runs are posted to a studio."""
        return is_url(self.address)


def history_location(address: str, token: Mapping[str, str]) -> HistoryLocation:
    """Return the history of an address. UsageError if it cannot be used safely."""
    if not is_url(address):
        return HistoryLocation(os.path.abspath(os.path.expanduser(address)))
    check_address(
        address,
        "the history",
        "set history in ccm.yaml or CCM_HISTORY to an address such as https://studio.example.net",
    )
    return HistoryLocation(address.rstrip("/"), token)


def check_address(address: str, what: str, hint: str) -> None:
    """UsageError for an address to which nothing may be posted: an unencrypted one that is not on
    this machine, or one with a login. ``what`` names the option, ``hint`` has the correction.
    """
    shown = one_line(address, 80)
    try:
        found = urlsplit(address)
        port = found.port
        (found.hostname or "").encode("idna")
    except ValueError as error:
        raise UsageError(f"{what} {shown!r} is not an address: {error}", hint=hint) from error
    if "@" in found.netloc:
        raise UsageError(f"the address of {what} contains credentials", hint=hint)
    if found.scheme not in ("https", "http") or not found.hostname or port == 0:
        raise UsageError(f"{what} {shown!r} is not an https address", hint=hint)
    if found.scheme == "http" and not is_loopback(found.hostname):
        raise UsageError(
            f"{what} {shown!r} would be used without encryption",
            hint="use https; http is only for an address of this machine",
        )
    if found.query or found.fragment or len(address) > _MAX_LENGTH:
        raise UsageError(f"{what} {shown!r} is not a plain address", hint=hint)
    if not re.fullmatch("[!-~]+", address):
        message = f"{what} {shown!r} contains a character that must be percent-encoded"
        raise UsageError(message, hint="write %20 for a space, %C3%BC for ü")


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
