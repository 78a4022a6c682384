"""repository: its state in apt and dnf, and the installed key (controller).

apt itself lists the sources that it reads. The fingerprint of a key is that of its first packet.
"""

import base64
import binascii
import configparser
import hashlib
import re
import shlex
from functools import partial
from typing import Any

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.paths import kind, of_kind, of_mode
from orchestrator.verify.subject import Subject

ETC = "/etc"
_FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)"
_FLAT = "$(COMPONENT)"
_LISTS = {"deb": "Packages", "deb-src": "Sources"}


def expectations(subject: Subject) -> list[Expectation]:
    """The state of a repository, present or absent."""
    name, provider = subject.name, subject.text("provider")
    sources = f"{ETC}/apt/sources.list.d/{name}.sources"
    repo = f"{ETC}/yum.repos.d/{name}.repo"
    if subject.get("ensure", "present") == "absent":
        return [_none(name, sources, repo)]
    if provider == "apt" or (subject.get("suites") and provider != "dnf"):
        paths = [f"{ETC}/apt/keyrings/{name}.asc", f"{ETC}/apt/keyrings/{name}.gpg"]
        return [*_file(sources), *_of_apt(subject, sources), *_key(subject, paths)]
    return [
        *_file(repo, 0o600 if subject.get("password") else 0o644),
        *_of_dnf(subject, repo),
        *_key(subject, [f"{ETC}/pki/rpm-gpg/RPM-GPG-KEY-{name}"]),
    ]


def _file(path: str, wanted: int = 0o644) -> list[Expectation]:
    return [of_kind(path, "a file"), of_mode(path, wanted)]


def _addresses(subject: Subject) -> list[str]:
    urls = subject.get("urls") or [subject.get("url")]
    return [str(url) for url in urls if url]


# -- apt ------------------------------------------------------------------------------------------


def _of_apt(subject: Subject, path: str) -> list[Expectation]:
    if subject.get("enabled") is False:
        return [equal("enabled", "no", lambda host: _field(host, path, "Enabled"))]
    wanted = sorted(
        f"{_as_apt_says(url)}/ {suite} {component}".strip()
        for url in _addresses(subject)
        for suite in subject.get("suites")
        for component in subject.get("components") or [""]
    )
    shown = ", ".join(wanted)
    expectations = [
        equal("sources", shown, partial(_sources, path=path, lists=_LISTS[each]))
        for each in subject.get("types") or ["deb"]
    ]
    signed = subject.get("signed_by")
    if signed:
        shown = " ".join(signed)
        expectations.append(equal("signed_by", shown, lambda host: _field(host, path, "Signed-By")))
    return expectations


def _as_apt_says(url: str) -> str:
    """An address without a trailing slash, which apt adds to the address of a directory."""
    return re.sub("^file:///*", "file:/", url).rstrip("/")


def _sources(host: Host, path: str, lists: str) -> str:
    """The sources that apt reads from a file: address, suite and component of each.

    If two files have the same source, apt names only one of them. Therefore, it also reads this
    file alone.
    """
    alone = f"-o Dir::Etc::sourcelist={shlex.quote(path)} -o Dir::Etc::sourceparts=/dev/null"
    found = _targets(host, lists) & _targets(host, lists, alone)
    return ", ".join(sorted(found)) or "none"


def _targets(host: Host, lists: str, options: str = "") -> set[str]:
    command = f"indextargets --format {shlex.quote(_FORMAT)} 'Created-By: {lists}'"
    told = answer(host, " ".join(filter(None, ("apt-get", options, command))))
    return {line.replace(_FLAT, "").replace("|", " ").strip() for line in told.splitlines()}


def _field(host: Host, path: str, name: str) -> str:
    return answer(host, f"sed -n 's/^{name}: *//p' -- %s", path).strip()


# -- dnf ------------------------------------------------------------------------------------------


def _sections(host: Host, path: str) -> configparser.ConfigParser:
    text = answer(host, "cat -- %s", path)
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parsed.read_string(text)
    except configparser.Error as error:
        raise RuntimeError(str(error)) from error
    return parsed


def _none(name: str, sources: str, path: str) -> Expectation:
    def find(host: Host) -> str:
        """The file that configures the repository."""
        if kind(host, sources) != "nothing":
            return sources
        there = kind(host, path) != "nothing" and _sections(host, path).has_section(name)
        return path if there else "none"

    return equal("repository", "none", find)


def _of_dnf(subject: Subject, path: str) -> list[Expectation]:
    def value(key: str) -> Any:
        """The command that reads a key of the section, as words."""

        def find(host: Host) -> str:
            """The words."""
            parsed = _sections(host, path)
            if not parsed.has_section(subject.name):
                raise RuntimeError(f"{path} does not contain [{subject.name}]")
            return " ".join(re.split(r"[\s,]+", parsed.get(subject.name, key, fallback="").strip()))

        return find

    on = {True: "1", False: "0"}
    wanted = {
        "baseurl": " ".join(_addresses(subject)),
        "mirrorlist": subject.text("mirrorlist"),
        "metalink": subject.text("metalink"),
        "enabled": on[subject.get("enabled") is not False],
        "gpgcheck": on[subject.get("gpgcheck") is not False],
        "priority": subject.text("priority"),
    }
    return [equal(key, text, value(key)) for key, text in wanted.items() if text]


# -- the key --------------------------------------------------------------------------------------


def _key(subject: Subject, paths: list[str]) -> list[Expectation]:
    given, named = subject.text("key"), subject.text("fingerprint")
    if not given:
        return []
    wanted = [re.sub(r"\s", "", one).upper() for one in named.split(",")] if named else []
    if not wanted and (data := _given(given)):
        wanted = [_fingerprint(data)]
    if not wanted:
        return [equal("key", "installed", lambda host: _is_installed(host, paths))]
    return [equal("key", wanted[0], lambda host: _installed(host, paths))]


def _given(key: str) -> bytes:
    """The bytes of a key that a plan contains, empty if the plan only names it."""
    if key.startswith("base64:"):
        return base64.b64decode(key[len("base64:") :])
    return key.encode() if "\n" in key else b""


def _is_installed(host: Host, paths: list[str]) -> str:
    there = any(kind(host, path) == "a file" for path in paths)
    return "installed" if there else "not installed"


def _installed(host: Host, paths: list[str]) -> str:
    """The fingerprint of the first key in the first of these files that exists."""
    for path in paths:
        result = host.run("test -f %s && base64 -w0 -- %s", path, path)
        if result.rc == 0:
            return _fingerprint(base64.b64decode(result.stdout))
    raise RuntimeError(f"there is no key at {' or '.join(paths)}")


def _fingerprint(data: bytes) -> str:
    """The fingerprint of the first key: the hash of its first packet."""
    if data.lstrip().startswith(b"-----"):
        lines = data.decode("utf-8", "replace").replace("\r", "").partition("\n-----END")[0]
        body = [line for line in lines.splitlines()[1:] if line and ":" not in line]
        try:
            data = base64.b64decode("".join(line for line in body if not line.startswith("=")))
        except binascii.Error:
            raise RuntimeError("the installed key is not valid") from None
    head, size = data[:1], 0
    if head and head[0] & 0xC0 == 0x80:  # the old format, as nearly all keys have it
        width = 1 << (head[0] & 3)
        size, start = int.from_bytes(data[1 : 1 + width], "big"), 1 + width
    elif head and data[1] < 192:
        size, start = data[1], 2
    elif head and data[1] < 224:
        size, start = ((data[1] - 192) << 8) + data[2] + 192, 3
    else:
        size, start = int.from_bytes(data[2:6], "big"), 6
    packet = data[start : start + size]
    if packet[:1] in (b"\5", b"\6"):
        mark = b"\x9b" if packet[0] == 6 else b"\x9a"
        return hashlib.sha256(mark + size.to_bytes(4, "big") + packet).hexdigest().upper()
    return hashlib.sha1(b"\x99" + size.to_bytes(2, "big") + packet).hexdigest().upper()
