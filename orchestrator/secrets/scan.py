"""Finds plaintext secrets in the files of a repository, by form and by entropy (controller).

A finding names the file, the line and the form. It never contains a part of the text.

The kind of file decides how certain a finding must be. Programs have names and types where data has
values. Tests, documents and examples have fictitious passwords, so only strings that look random
are reported there.
"""

import math
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orchestrator.secrets.errors import SecretError

MAX_BYTES = 2 << 20
ALLOW = "ccm: allow-secret"
_ALLOWED = (ALLOW, "gitleaks:allow", "pragma: allowlist secret")
_MIN_ENTROPY = 4.2
_MIN_PASSWORD = 3.2
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"[A-Za-z0-9+/]{40}")
_WHOLE_KEY = re.compile(
    rf"{_PRIVATE_KEY.pattern}(?:(?!-----BEGIN ).)*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----",
    re.DOTALL,
)
_FORMS = (
    ("an age identity", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{20,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})"),
    ("a GitLab token", r"\bgl(?:pat|rt|dt|ptt)-[\w-]{20,}"),
    (
        "a Slack token",
        r"\bxox[abposr]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T\w+/B\w+/\w+",
    ),
    ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a Google key", r"\bAIza[\w-]{35}\b"),
    ("an npm or PyPI token", r"\bnpm_[A-Za-z0-9]{36}\b|\bpypi-[\w-]{50,}"),
    ("a HashiCorp Vault token", r"\bhv[sb]\.[\w-]{24,}"),
    ("a JSON web token", r"\beyJ[\w-]{10,1000}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
)
_LOGIN = re.compile(r"://[^/\s:@'\"{}$<>]+:(?P<password>[^/\s@'\"{}$<>*\[]{3,})@")
_PLACEHOLDER = re.compile(
    r"(?i)(?:my|your|the|db|a)?[-_ ]?(?:pass|passwd|password|passphrase|pw|pwd|secret|token"
    r"|api[-_]?key|credentials?|x+)"
)
_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:_[a-z]+)+")
_NAMED = re.compile(
    r"""(?ix)
    (?:passwd|password|passphrase|secret|token|api_?-?key|private_?-?key|credentials?)
    ["']?\s*(?::=|[:=])\s*(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s#,;}\]]+)"""
)
_WORDS = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_KEY_OF_SECRET = re.compile(
    r"(?im)!vault|!age"
    r"|^[ \t]*(?=[\w-]*[ \t]*:)[\w-]*?(?:passw|passphrase|secret|token|api_?key)"
)


def may_hold_secrets(text: str) -> bool:
    """Whether a YAML file contains encrypted values, or keys with names that suggest secrets."""
    return _KEY_OF_SECRET.search(text) is not None


_MAY_NAME = re.compile(r"(?i)pass|secret|token|key|credential")
_RUN = re.compile(r"(?i)abcdef|012345")
_FIELD = re.compile(r"\{[\w.\[\]'\"!:()]*\}|%[sdr]")
_HARMLESS = re.compile(
    r"""(?ix)^(?:|[*x.-]+|<.*>|\[.*|\{.*|[!&|>%].*|\$.*|~.*|\.{0,2}/.*|none|null|nil|true|false|yes|no
    |change_?-?me.*|example.*|placeholder.*|your.*|redacted|masked|todo|dummy.*|\d{1,5}|env:.*
    |[a-z]+\(.*|https?:.*|(?:sha(?:1|256|384|512)|md5)[:-].*)$"""
)
_ENCRYPTED = re.compile(
    r"\$ANSIBLE_VAULT;[^\n]*(?:\n[ \t]*[0-9a-f]+[ \t]*(?=\n|\Z))*"
    r"|-----BEGIN AGE ENCRYPTED FILE-----(?:(?!-----BEGIN ).)*?-----END AGE ENCRYPTED FILE-----"
    r"|ENC\[AES256_GCM,[^\[\]]*\]"
    r"|-----BEGIN CERTIFICATE-----(?:(?!-----BEGIN ).)*?-----END CERTIFICATE-----"
    r"|-----BEGIN PGP (?:MESSAGE|PUBLIC KEY BLOCK|SIGNATURE)-----(?:(?!-----BEGIN ).)*?"
    r"-----END PGP [A-Z ]+-----",
    re.DOTALL,
)
_PUBLIC = re.compile(
    r"(?:(?:ssh-(?:ed25519|rsa|dss)|ecdsa-sha2-|sk-)\S{0,60})\s+AAAA[A-Za-z0-9+/=]+"
    r"|\bage1[0-9a-z]+|\b(?:sha|SHA)(?:1|224|256|384|512)[-:][A-Za-z0-9+/=]+"
    r"|(?<!\w)\|1\|[A-Za-z0-9+/=]+\|[A-Za-z0-9+/=]+"  # a hashed name in known_hosts
    r"|\$(?:1|2[abxy]|5|6|7|y|gy)\$[./A-Za-z0-9$=,]+"  # a password hash of crypt
    r"|\bdata:[\w/.+-]+;base64,[A-Za-z0-9+/=]+"
)
_PROGRAMS = (
    ".py", ".pyi", ".go", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".rb", ".rs", ".java", ".kt",
    ".c", ".h", ".cc", ".cpp", ".cs", ".php", ".pl", ".pm", ".lua", ".swift", ".scala",
)  # fmt: skip
_GENERATED = re.compile(
    r"go\.sum|.*\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml|.*\.min\.(?:js|css)"
    r"|.*\.(?:js|css)\.map|.*\.svg"
)
_MADE_UP_FOLDERS = frozenset(
    ("test", "tests", "testdata", "spec", "fixtures", "doc", "docs", "example", "examples")
)
_MADE_UP_NAMES = re.compile(
    r"test_.*\.py|conftest\.py|.*[._-](?:test|spec)\.\w+|.*\.(?:md|rst|adoc|example|sample|dist)"
)


class Finding(NamedTuple):
    """A plaintext secret: the file, its line, and its kind."""

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
        raise SecretError(message, hint="specify the files to check") from error
    names = dict.fromkeys(filter(None, done.stdout.decode("utf-8", "surrogateescape").split("\0")))
    return [os.path.normpath(os.path.join(directory, name)) for name in names]


def text_of(path: str) -> str | None:
    """Return the text of a file; None if it is binary, large, a link or missing."""
    try:
        if os.path.islink(path) or os.path.getsize(path) > MAX_BYTES:
            return None
        data = Path(path).read_bytes()
    except OSError:
        return None
    return None if b"\0" in data else data.decode("utf-8", "replace")


def findings_in(path: str, text: str) -> Iterator[Finding]:
    """Yield the plaintext secrets in a file's text, at most one for each line.

    ``path`` is relative to the repository, or absolute; it determines the kind of the file.
    """
    kind = _kind(path)
    allowed = {
        number
        for number, line in enumerate(text.split("\n"), 1)
        if any(mark in line for mark in _ALLOWED)
    }
    text = _ENCRYPTED.sub(_blank, text)
    keys, number, done = set(), 1, 0
    for at in _private_keys(text, kind):
        number, done = number + text.count("\n", done, at), at
        keys.add(number)
    text = _PUBLIC.sub(_blank, _WHOLE_KEY.sub(_blank, text))
    for number, line in enumerate(text.split("\n"), 1):
        if number in allowed:
            continue
        what = "a private key" if number in keys else ""
        what = what or _form(line) or _login(line, kind) or _named(line, kind)
        what = what or _random(line, kind)
        if what:
            yield Finding(path, number, what)


class _Kind(NamedTuple):
    """The kind of a file: whether it is a program, generated, or a place for fictitious secrets."""

    program: bool
    generated: bool
    made_up: bool


def _kind(path: str) -> _Kind:
    """Return the kind of a file based on its path. For an absolute path, only the name is used."""
    *folders, name = path.split("/")
    inside = not path.startswith("/") and not _MADE_UP_FOLDERS.isdisjoint(folders)
    return _Kind(
        program=name.endswith(_PROGRAMS),
        generated=_GENERATED.fullmatch(name) is not None,
        made_up=inside or _MADE_UP_NAMES.fullmatch(name) is not None,
    )


def _private_keys(text: str, kind: _Kind) -> Iterator[int]:
    """Where private keys begin. Programs and tests may contain only the first line."""
    for match in _PRIVATE_KEY.finditer(text):
        following = text[match.end() : match.end() + 400]
        if not (kind.program or kind.made_up) or _BODY.search(following):
            yield match.start()


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _form(line: str) -> str:
    return next((what for what, pattern in _FORMS if re.search(pattern, line)), "")


def _login(line: str, kind: _Kind) -> str:
    for match in _LOGIN.finditer(line) if "://" in line else ():
        password = match["password"]
        if _PLACEHOLDER.fullmatch(password) or password.isupper():
            continue
        if not kind.made_up or _looks_random(password):
            return "credentials in a URL"
    return ""


def _named(line: str, kind: _Kind) -> str:
    for match in _NAMED.finditer(line) if _MAY_NAME.search(line) else ():
        value = match["value"]
        quoted = value[:1] in "\"'"
        bare = value.strip("\"'").strip()
        # A bare word is a password in YAML and in .env, and a name in a program.
        if not quoted and (kind.program or not _is_mixed(bare)):
            continue
        if len(bare) < 6 or _is_harmless(bare) or (quoted and " " in bare):
            continue
        if not kind.made_up or _looks_random(bare):
            return "a password, token or key in plaintext"
    return ""


def _is_harmless(text: str) -> bool:
    """Whether a value is a reference, a name or a placeholder."""
    patterns = (_HARMLESS, _PLACEHOLDER, _NAME)
    if any(pattern.fullmatch(text) for pattern in patterns):
        return True
    return "{{" in text or "${" in text or "(" in text or bool(_FIELD.search(text))


def _is_mixed(text: str) -> bool:
    """Whether a string has at least two kinds of characters, unlike most names in programs."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(kind, text)) for kind in kinds) >= 2 and "." not in text


def _looks_random(text: str) -> bool:
    """Whether a password was probably generated: it is long and uses all kinds of characters."""
    kinds = (str.islower, str.isupper, str.isdigit)
    is_mixed = all(any(map(kind, text)) for kind in kinds)
    return is_mixed and len(text) >= 12 and entropy(text) >= _MIN_PASSWORD


def _random(line: str, kind: _Kind) -> str:
    if kind.generated or (kind.program and kind.made_up):
        return ""
    for match in _WORDS.finditer(line):
        word = match[0].rstrip("=")
        if re.fullmatch(r"[0-9a-fA-F-]+", word) or word.count("/") > 2 or word.count("-") > 3:
            continue
        if _RUN.search(word) or (kind.program and not _is_quoted(line, match.start())):
            continue
        kinds = [any(map(kind_of, word)) for kind_of in (str.islower, str.isupper, str.isdigit)]
        if all(kinds) and entropy(word) >= _MIN_ENTROPY:
            return "a random string, such as a key or a token"
    return ""


def _is_quoted(line: str, at: int) -> bool:
    """Whether a word of a program is inside a string literal."""
    return any(sign in line[:at] for sign in "\"'`")


def entropy(text: str) -> float:
    """The entropy in bits per character, based on how often each character occurs in the text."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
