"""authorized_key: the keys of a user as listed by ssh-keygen, and as written in the
file (controller).
"""

import base64
import binascii
import hashlib
import re
from typing import Any

from orchestrator.verify.expectation import Expectation, Host, answer, entry, equal
from orchestrator.verify.paths import kind, uid_and_mode
from orchestrator.verify.subject import Subject

_KEY = re.compile(
    r"""[ \t]*(?:(?P<options>(?:[^"\s]|"(?:\\"|\\(?!")|[^"\\])*")+)[ \t]+)??"""
    r"""(?P<kind>(?:ssh|ecdsa|sk)-[^\s,"]+)[ \t]+(?P<blob>[A-Za-z0-9+/]+=*)[ \t]*(?P<comment>.*)"""
)
_EMPTY = "is not a public key file"
_HOME = 5  # the field of an entry
_OTHERS = 0o022


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for keys that are present or absent."""
    wanted = _wanted(subject)
    prints = [found["print"] for found in wanted]
    if subject.get("ensure", "present") == "absent":
        none = "none of them"
        return [equal("keys", none, lambda host: _present(host, subject, prints) or none)]
    together = ", ".join(dict.fromkeys(prints)) or "none"
    keys = equal("keys", together, lambda host: _present(host, subject, prints) or "none")
    found = [keys._replace(gate=True)]
    if subject.get("exclusive"):
        found.append(equal("other keys", "none", lambda host: _others(host, subject, prints)))
    found += _of_lines(subject, wanted)
    if prints:
        found.append(
            equal("permissions", "accepted by sshd", lambda host: _permissions(host, subject))
        )
    return found


def _of_lines(subject: Subject, wanted: list[dict[str, str]]) -> list[Expectation]:
    """Options and comments, if the resource sets them."""
    options, comment = subject.get("options"), subject.text("comment")
    if isinstance(options, list):
        options = ",".join(map(str, options))
    given = options is not None or any(one["options"] for one in wanted)
    expectations = []
    if given and wanted:
        lines = sorted(
            {(one["print"], one["options"] if options is None else options) for one in wanted}
        )
        known = {one["print"] for one in wanted if options is not None or one["options"]}
        lines = [line for line in lines if line[0] in known]
        expectations.append(
            equal(
                "options",
                [line[1] for line in lines],
                lambda host: [
                    line[1]
                    for line in sorted(
                        {
                            (one["print"], one["options"])
                            for one in _lines(host, subject)
                            if one["print"] in known
                        }
                    )
                ],
                "; ".join,
            )
        )
    said = {(one["print"], comment or one["comment"]) for one in wanted}
    kept = {print_ for print_, text in said if not text}
    named = {print_ for print_, _ in said} - kept
    if named:
        expectations.append(
            equal(
                "comment",
                sorted(text for print_, text in said if print_ in named),
                lambda host: sorted(
                    {
                        (one["print"], one["comment"]): one["comment"]
                        for one in _lines(host, subject)
                        if one["print"] in named
                    }.values()
                ),
                "; ".join,
            )
        )
    return expectations


def _wanted(subject: Subject) -> list[dict[str, str]]:
    key: Any = subject.get("key") or ""
    return _parsed("\n".join(map(str, key)) if isinstance(key, list) else str(key))


def _parsed(text: str) -> list[dict[str, str]]:
    """Return the keys in the lines of a text, each with its fingerprint."""
    result = []
    for line in text.split("\n"):
        match = None if line.strip().startswith("#") else _KEY.match(line)
        if match is None:
            continue
        try:
            blob = base64.b64decode(match["blob"], validate=True)
        except binascii.Error:
            continue
        digest = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
        texts = {key: (match[key] or "").strip() for key in ("options", "comment")}
        result.append({**texts, "print": f"SHA256:{digest}"})
    return result


def _entry(host: Host, user: str) -> list[str]:
    """The user's entry in the passwd database, [] for an unknown user."""
    return entry(host, "passwd", user, _HOME + 1)


def _path(host: Host, subject: Subject) -> str:
    """The file, "" if the user or the file does not exist."""
    user = subject.text("user") or subject.name
    fields = _entry(host, user)
    if not fields:
        return ""
    words = {"%h": fields[_HOME], "%u": user, "%%": "%"}
    given = subject.text("path") or ".ssh/authorized_keys"
    path = re.sub("%[hu%]", lambda match: words[match[0]], given)
    path = path if path.startswith("/") else f"{fields[_HOME].rstrip('/')}/{path}"
    kind_of_path = kind(host, path)
    if kind_of_path not in ("a file", "nothing"):
        raise RuntimeError(f"{path} is {kind_of_path}")
    return path if kind_of_path == "a file" else ""


def _listed(host: Host, subject: Subject) -> list[str]:
    """The fingerprints that ssh-keygen finds in the file."""
    path = _path(host, subject)
    if not path:
        return []
    result = host.run("ssh-keygen -l -E sha256 -f %s", path)
    if result.rc and _EMPTY not in result.stderr + result.stdout:
        raise RuntimeError(result.stderr.strip() or f"ssh-keygen exited with {result.rc}")
    lines = [line.split() for line in str(result.stdout).splitlines()]
    return [words[1] for words in lines if len(words) > 1 and words[1].startswith("SHA256:")]


def _present(host: Host, subject: Subject, prints: list[str]) -> str:
    """The desired keys that the file contains."""
    keys = set(_listed(host, subject))
    return ", ".join(one for one in dict.fromkeys(prints) if one in keys)


def _others(host: Host, subject: Subject, prints: list[str]) -> str:
    """The other keys in the file."""
    return ", ".join(one for one in _listed(host, subject) if one not in prints) or "none"


def _lines(host: Host, subject: Subject) -> list[dict[str, str]]:
    """The keys in the file with their options and comments."""
    path = _path(host, subject)
    if not path:
        return []
    return _parsed(answer(host, "cat -- %s", path))


def _permissions(host: Host, subject: Subject) -> str:
    """The reasons why sshd would refuse the file, or its directory in the user's home."""
    fields = _entry(host, subject.text("user") or subject.name)
    path = _path(host, subject)
    if not fields or not path:
        return "no file"
    home, directory = fields[_HOME].rstrip("/") or "/", path.rpartition("/")[0] or "/"
    own = directory.startswith(home.rstrip("/") + "/")
    for one in [directory] * own + [path]:
        uid, mode = uid_and_mode(host, one, follow=True)
        if uid not in ("0", fields[2]):
            return f"{one} belongs to uid {uid}"
        if int(mode, 8) & _OTHERS:
            return f"{one} is writable by others"
    return "accepted by sshd"
