"""Restricts the addresses and refs that are passed to git (both sides): none may be read as an
option, run as a command, or refer to a place other than the apparent one.
"""

import re
from typing import Any, List, Mapping, Tuple

_SCHEMES = ("https", "http", "ssh", "git", "file")
_HOST = r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_USER = r"[A-Za-z0-9_.+][A-Za-z0-9_.+-]*"
_SCP = re.compile(r"(?:%s@)?[A-Za-z0-9_][A-Za-z0-9_.-]*:[^-:\s][^\s]*" % _USER)
_FULL = re.compile(r"(?:(?P<user>[^/@]*)@)?(?P<host>%s)/[^\s]+" % _HOST)
_HINT = "write https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH or an absolute path"


def of_url(url: str) -> List[str]:
    """Return the problems of a repository's address."""
    if url.startswith("-"):
        return ["it must not begin with -; %s" % _HINT]
    if "::" in url.partition("/")[0]:
        return ["transport helpers such as ext:: are refused; %s" % _HINT]
    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        return ["it contains whitespace or a control character"]
    scheme, separator, rest = url.partition("://")
    if not separator:
        if url.startswith("/"):
            return _of_local(url)
        return [] if _SCP.fullmatch(url) else ["%r is not an address; %s" % (url, _HINT)]
    if scheme not in _SCHEMES:
        return ["the scheme %s is not supported; %s" % (scheme, _HINT)]
    if scheme == "file":
        return _of_local(rest) if rest.startswith("/") else ["file:// requires an absolute path"]
    match = _FULL.fullmatch(rest)
    if not match:
        return ["it has no valid host and path; %s" % _HINT]
    user = match.group("user")
    if user is not None and ":" in user:
        return ["it contains a password, which git would store in the checkout; use token"]
    if user is not None and not re.fullmatch(_USER, user):
        return ["%r is not a valid user name" % user]
    return []


def _of_local(path: str) -> List[str]:
    from remote_runtime.validation import rules

    return rules.of_path(path.rstrip("/") or "/")


def of_ref(ref: str) -> List[str]:
    """Return the problems of a branch, tag or commit, according to the rules of git
    check-ref-format.
    """
    if ref.startswith("-"):
        return ["it must not begin with -"]
    parts = ref.split("/")
    if (
        re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{", ref)
        or ref == "@"
        or ref.endswith(".")
        or any(not part or part.startswith(".") or part.endswith(".lock") for part in parts)
    ):
        return ["%r is not a valid branch, tag or commit" % ref]
    if ref in ("HEAD", "FETCH_HEAD", "ORIG_HEAD"):
        return ["name a branch, tag or commit; without ref, the default branch is checked out"]
    if ref.startswith("refs/") and not ref.startswith(("refs/heads/", "refs/tags/")):
        return ["only refs/heads/ and refs/tags/ are supported"]
    return []


def of_credentials(properties: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """Credentials that the address cannot use, as (property, message)."""
    url, wrong = str(properties.get("url") or ""), []
    web = url.startswith(("https://", "http://"))
    local = url.startswith(("/", "file://", "git://"))
    for key in ("token", "username"):
        if url and properties.get(key) and not web:
            wrong.append((key, "only an address with https:// uses it"))
    for key in ("ssh_key", "known_host"):
        if url and properties.get(key) and (web or local):
            wrong.append((key, "only an address for SSH uses it"))
    key = str(properties.get("ssh_key") or "")
    if key and "PRIVATE KEY-----" not in key:
        wrong.append(("ssh_key", "it is not a private key: expected the text of the key file"))
    elif "ENCRYPTED" in key:
        wrong.append(("ssh_key", "it has a passphrase, and ccm cannot prompt for it"))
    if properties.get("username") and not properties.get("token"):
        wrong.append(("username", "it has no effect without token"))
    for line in str(properties.get("known_host") or "").splitlines():
        if line.strip() and not line.startswith("#") and len(line.split()) < 2:
            wrong.append(("known_host", "expected lines of known_hosts: HOST TYPE KEY"))
            break
    return wrong
