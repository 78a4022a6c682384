"""The rules for the properties of a repository (both sides)."""

import base64
import binascii
import re
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from remote_runtime.downloads import request
from remote_runtime.resources.repository import deb822, openpgp_keys, repo_file

INLINE, BINARY = "-----BEGIN", "base64:"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:\S+\Z")
_DOWNLOADS = ("http://", "https://")
_DIGITS = re.compile(r"(?:[0-9A-F]{40}|[0-9A-F]{64})\Z")

ONLY = {
    "dnf": ("mirrorlist", "metalink", "priority", "repo_gpgcheck", "username", "password"),
    "apt": ("suites", "components", "types", "architectures"),
}
"""The properties that only one provider has."""

Problem = Tuple[str, str]


def problems(properties: Mapping[str, Any]) -> List[Problem]:
    """Return the problems, as (property, message)."""
    if properties.get("ensure") == "absent":
        return []
    return [*_addresses(properties), *_suites(properties), *_keys(properties), *_more(properties)]


def fingerprints(text: str) -> List[str]:
    """The fingerprints in a property, in uppercase without spaces."""
    return [re.sub(r"\s+|^0[xX]", "", one).upper() for one in text.split(",")]


def inline(key: str) -> Optional[bytes]:
    """The bytes of a key that the property itself contains, None if the key is elsewhere.
    ``ValueError`` for invalid base64.
    """
    if "\n" in key or key.startswith(INLINE):
        return key.encode("utf-8", "surrogateescape")
    if key.startswith(BINARY):
        try:
            return base64.b64decode(key[len(BINARY) :], validate=True)
        except binascii.Error:
            raise ValueError("it is not base64") from None
    return None


def is_download(key: str) -> bool:
    """Return whether a key must be fetched from a server."""
    return "\n" not in key and key.lower().startswith(_DOWNLOADS)


def compare(keys: openpgp_keys.Keys, expected: str) -> str:
    """Return the difference between keys and the property ``fingerprint``, "" if they match."""
    wanted = fingerprints(expected)
    strange = [one for one in keys.primary if one not in wanted]
    missing = [one for one in wanted if one not in keys.primary]
    if not (strange or missing):
        return ""
    for one in missing:
        if one in keys.subkeys:
            return "%s is a subkey; use the fingerprint of its key, %s" % (one, keys.primary[0])
    has = "it has the fingerprint %s" % ", ".join(keys.primary)
    return "%s, not %s" % (has, ", ".join(wanted))


def _addresses(properties: Mapping[str, Any]) -> Iterator[Problem]:
    address_keys = [k for k in ("url", "urls", "mirrorlist", "metalink") if properties.get(k)]
    if not address_keys:
        yield "", "required property 'url' is missing"
    if "url" in address_keys and "urls" in address_keys:
        yield "urls", "use either url or urls"
    both = [key for key in address_keys if key in ("mirrorlist", "metalink")]
    if len(both) > 1:
        yield "metalink", "use either mirrorlist or metalink"
    for key in address_keys:
        for url in [properties[key]] if isinstance(properties[key], str) else properties[key]:
            reason = _wrong_address(url)
            if reason:
                yield key, reason


def _wrong_address(url: str) -> str:
    if url.startswith("ppa:"):
        owner, _, name = url[4:].partition("/")
        return "write the address: https://ppa.launchpadcontent.net/%s/%s/ubuntu" % (owner, name)
    if re.match(r"deb(-src)?\s", url):
        return (
            "only the address belongs here; the suite and the components have their own properties"
        )
    if _ADDRESS.match(url):
        return ""
    return "%r is not a URL, such as https://packages.example.org/debian" % url


def _suites(properties: Mapping[str, Any]) -> Iterator[Problem]:
    suites, components = properties.get("suites"), properties.get("components")
    if not suites:
        for key in ("components", "types", "architectures"):
            if properties.get(key):
                yield key, "%s requires suites" % key
        return
    flat = [suite for suite in suites if suite.endswith("/")]
    if flat and len(flat) < len(suites):
        yield "suites", "%r is a directory, but the others are suites: use two resources" % flat[0]
    elif flat and components:
        yield "components", "a flat repository (%s) has no components" % flat[0]
    elif not flat and not components:
        yield "components", "suites require components, such as [main]"


def _keys(properties: Mapping[str, Any]) -> Iterator[Problem]:
    key, expected = properties.get("key"), properties.get("fingerprint")
    if expected:
        for one in fingerprints(expected):
            if not _DIGITS.match(one):
                yield "fingerprint", "%r is not a fingerprint: it has 40 or 64 digits" % one
                return
    if not key:
        if expected:
            yield "fingerprint", "fingerprint requires key"
        return
    if properties.get("signed_by"):
        yield "signed_by", "use either key or signed_by"
    if is_download(key):
        wrong = request.url_problem(key)
        if wrong:
            yield "key", wrong
        elif not expected:
            yield "key", "a key from a URL requires its fingerprint"
        return
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S*\Z", key) and not key.startswith(BINARY):
        yield "key", "only http and https URLs can be downloaded, not %s" % key.partition(":")[0]
        return
    yield from _key_itself(key, expected)


def _key_itself(key: str, expected: Optional[str]) -> Iterator[Problem]:
    try:
        data = inline(key)
        if data is None:
            return
        if len(data) > openpgp_keys.LARGEST:
            raise ValueError("it is larger than %d bytes" % openpgp_keys.LARGEST)
        keys = openpgp_keys.read(data)
    except ValueError as error:
        yield "key", str(error)
        return
    reason = compare(keys, expected) if expected else ""
    if reason:
        yield "key", reason


def _more(properties: Mapping[str, Any]) -> Iterator[Problem]:
    lower = {key.lower() for key in properties.get("options") or {}}
    if len(lower) < len(properties.get("options") or {}):
        yield "options", "an option appears twice"
    for key in sorted(lower):
        own = deb822.OWN.get(key) or repo_file.OWN.get(key)
        if own:
            yield "options", "%s has its own property: %s" % (key, own)
    if properties.get("password") and not properties.get("username"):
        yield "password", "password requires username"
    own = properties.get("provider")
    for key in (one for name, keys_ in ONLY.items() if name != own for one in keys_):
        if own in ONLY and properties.get(key) is not None:
            yield key, "%s has no effect with provider: %s" % (key, properties["provider"])


def warnings(properties: Mapping[str, Any]) -> List[Tuple[str, str, str]]:
    """Return (property, message, hint) for settings that are allowed but probably a mistake."""
    warnings = []
    if properties.get("ensure") != "absent" and properties.get("gpgcheck") is False:
        hint = "set key, and omit gpgcheck"
        warnings.append(("gpgcheck", "packages are installed regardless of their origin", hint))
    for key in ("url", "urls"):
        value = properties.get(key) or []
        for url in [value] if isinstance(value, str) else value:
            if _has_password(url):
                message = "every user of the host can read the password in the file"
                hint = "put it in a file of /etc/apt/auth.conf.d with mode 0600"
                warnings.append((key, message, hint))
    return warnings


def _has_password(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
