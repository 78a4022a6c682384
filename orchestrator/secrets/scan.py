"""Finds secrets in clear in the files of a repository, by form and by entropy (controller).

A finding names the file, the line and the form. It never contains a part of the text.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from orchestrator.secrets.errors import SecretError

MOST_BYTES = 2 << 20
ALLOW = "ccm: allow-secret"
_ALLOWED = (ALLOW, "gitleaks:allow", "pragma: allowlist secret")
_LEAST_ENTROPY = 4.2
_FORMS = (
    ("a private key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"),
    ("an age identity", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}"),
    ("an access key of AWS", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a token of GitHub", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})"),
    ("a token of GitLab", r"\bgl(?:pat|rt|dt|ptt)-[\w-]{20,}"),
    (
        "a token of Slack",
        r"\bxox[abposr]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T\w+/B\w+/\w+",
    ),
    ("a key of Stripe", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a key of Google", r"\bAIza[\w-]{35}\b"),
    ("a token of npm or PyPI", r"\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{50,}"),
    ("a token of HashiCorp Vault", r"\bhv[sb]\.[\w-]{24,}"),
    ("a JSON web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("a login in a URL", r"://[^/\s:@'\"{}$<>]+:[^/\s@'\"{}$<>*]{3,}@"),
)
_NAMED = re.compile(
    r"""(?ix)(?<![a-z0-9])[\w.-]*?
    (?:passwd|password|passphrase|secret|token|api_?-?key|private_?-?key|credentials?)
    ["']?\s*(?::=|[:=])\s*(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s#,;}\]]+)"""
)
_WORDS = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HARMLESS = re.compile(
    r"""(?ix)^(?:|[*x.-]+|<.*>|\[.*|\{.*|[!&|>%].*|\$.*|~.*|\.{0,2}/.*|none|null|nil|true|false|yes|no
    |change_?-?me.*|example.*|placeholder.*|your.*|redacted|masked|todo|dummy.*|\d{1,5}|env:.*
    |[a-z]+\(.*|https?:.*|(?:sha(?:1|256|384|512)|md5)[:-].*)$"""
)
_ENCRYPTED = re.compile(
    r"\$ANSIBLE_VAULT;[^\n]*(?:\n[ \t]*[0-9a-f]+[ \t]*(?=\n|\Z))*"
    r"|-----BEGIN AGE ENCRYPTED FILE-----.*?-----END AGE ENCRYPTED FILE-----"
    r"|ENC\[AES256_GCM,[^\]]*\]"
    r"|-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----"
    r"|-----BEGIN PGP (?:MESSAGE|PUBLIC KEY BLOCK|SIGNATURE)-----.*?-----END PGP [A-Z ]+-----",
    re.DOTALL,
)
_PUBLIC = re.compile(
    r"(?:ssh-(?:ed25519|rsa|dss)|ecdsa-sha2-\S+|sk-\S+@openssh\.com)\s+AAAA[A-Za-z0-9+/=]+"
    r"|\bage1[0-9a-z]+|\bsha(?:256|384|512)[-:][A-Za-z0-9+/=]+"
)


class Finding(NamedTuple):
    """Something in clear: the file, its line, and what it looks like."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def tracked_files(directory: Path) -> list[str]:
    """The files below the directory that git tracks or is about to commit; SecretError."""
    words = ["git", "-C", str(directory), "ls-files", "-z", "--cached"]
    try:
        done = subprocess.run(words, capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        message = f"{directory} is not in a git repository"
        raise SecretError(message, hint="name the files to check") from error
    names = dict.fromkeys(filter(None, done.stdout.decode("utf-8", "surrogateescape").split("\0")))
    return [os.path.normpath(os.path.join(directory, name)) for name in names]


def text_of(path: str) -> str | None:
    """The text of a file; None for one that is binary, large, a link or gone."""
    try:
        if os.path.islink(path) or os.path.getsize(path) > MOST_BYTES:
            return None
        data = Path(path).read_bytes()
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")


def findings(paths: Iterable[str]) -> Iterator[Finding]:
    """What stands in clear in these files."""
    for path in paths:
        text = text_of(path)
        if text is not None:
            yield from findings_in(path, text)


def findings_in(path: str, text: str) -> Iterator[Finding]:
    """What stands in clear in a text, at most one finding for each line."""
    text = _PUBLIC.sub(_blank, _ENCRYPTED.sub(_blank, text))
    for number, line in enumerate(text.splitlines(), 1):
        if any(mark in line for mark in _ALLOWED):
            continue
        what = _form(line) or _named(line) or _random(line)
        if what:
            yield Finding(path, number, what)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _form(line: str) -> str:
    return next((what for what, pattern in _FORMS if re.search(pattern, line)), "")


def _named(line: str) -> str:
    for match in _NAMED.finditer(line):
        value = match["value"]
        quoted = value[:1] in "\"'"
        bare = value.strip("\"'").strip()
        # A bare word is a password in YAML and in .env, and a name in a program.
        if len(bare) < 6 or _HARMLESS.match(bare) or "{{" in bare or "${" in bare or "(" in bare:
            continue
        if not quoted and not _is_mixed(bare):
            continue
        if quoted and " " in bare:
            continue
        return "a literal value of a password, token or key"
    return ""


def _is_mixed(text: str) -> bool:
    """Whether a text has letters and other characters, as few names of a program do."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(kind, text)) for kind in kinds) >= 2 and "." not in text


def _random(line: str) -> str:
    for match in _WORDS.finditer(line):
        word = match[0].rstrip("=")
        if re.fullmatch(r"[0-9a-fA-F-]+", word) or word.count("/") > 2 or word.count("-") > 3:
            continue
        kinds = [any(map(kind, word)) for kind in (str.islower, str.isupper, str.isdigit)]
        if all(kinds) and entropy(word) >= _LEAST_ENTROPY:
            return "a random text, such as a key or a token"
    return ""


def entropy(text: str) -> float:
    """Bits for each character, by how often each occurs in the text."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
