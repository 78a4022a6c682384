"""Finds equal strings across hosts (controller)."""

import re

from orchestrator.fleet.host.stage_host import host_in

MAX_COMPARED = 4_000  # the first characters of a string, which are compared
HOST = "{host}"  # placeholder for the name of each host of a block

FINGERPRINT = r"\bSHA256:[\w+/]{43}"
# A host's own values in its changes: no other host has that address or hash.
_OWN = (
    rf"{FINGERPRINT}|"
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[0-9a-f]{12,}\b|"
    r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
)
# Process ids, addresses, hashes, fingerprints and times differ between hosts that failed for the
# same reason.
_VARYING = (
    rf"{FINGERPRINT}|"
    r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*Z?|"
    r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b|\b[0-9a-f]{12,}\b|(?<![\w.])\d{4,}\b|\d+\.\d+ ?s\b"
)
_NUMBERS = r"\d+(?:[.,:]\d+)*"
_BLANKS = r"[ \t]+"


def normalized(text: str, host: str) -> str:
    """The text without irrelevant differences between hosts."""
    if not text:
        return text
    return re.sub(_VARYING, "#", without_host_name(host, text[:MAX_COMPARED]))


def folded(text: str, host: str) -> str:
    """The text without the host's name and any numbers, regardless of its layout."""
    text = re.sub(_NUMBERS, "#", re.sub(_VARYING, "#", without_host_name(host, text)))
    return re.sub(_BLANKS, " ", text)


def without_host_name(host: str, text: str, name: str = HOST) -> str:
    """The text with the host's own name, as a word or within a longer name, replaced by
    ``name``.
    """
    host, short = host_in(host), short_name(host)
    if short not in text:
        return text
    text = re.sub(rf"(?<![\w-]){re.escape(host)}(?![\w-])", name, text)
    if short == host or short.isdigit():
        return text
    return re.sub(rf"(?<![\w.-]){re.escape(short)}(?![\w.-])", name, text)


def short_name(host: str) -> str:
    """The short host name within longer names."""
    return host_in(host).partition(".")[0]


def normalized_value(host: str, text: str) -> str:
    """The text of a change without the host's name and host-specific values."""
    return re.sub(_OWN, "#", without_host_name(host, text[:MAX_COMPARED]) + text[MAX_COMPARED:])
