"""Explains in plain words why dnf failed (target)."""

import re
from typing import TYPE_CHECKING, List

from remote_runtime.packages import failures
from remote_runtime.packages.failures import known
from remote_runtime.packages.locks import LOCK_HINT, LOCKED
from remote_runtime.packages.package_info import DOWNLOAD

if TYPE_CHECKING:
    from remote_runtime.errors import ResourceError
    from remote_runtime.system.process.commands import Result

# The first match decides the hint: causes come before their consequences.
_TABLE = (
    known(
        r"superuser privileges|must be root|[Pp]ermission denied",
        "package.root",
        "only root can change packages: set `become: true` for this host",
    ),
    known(
        r"already locked by \d+|can't create transaction lock|obtain rpm transaction lock",
        LOCKED,
        LOCK_HINT,
    ),
    known(
        r"No space left on device|[Dd]isk [Rr]equirements"
        r"|needs \d+ ?[A-Z]*B? (?:more (?:space|inodes) )?on the",
        "package.space",
        "free space on the host; `dnf clean packages` removes downloaded packages",
    ),
    known(
        r"Read-only file system",
        "package.readonly",
        "remount the file system writable",
    ),
    known(
        r"GPG check FAILED|is not signed|not have any GPG public keys"
        r"|[Pp]ublic key .*(?:not installed|not trusted)|[Ss]ignature verification failed",
        "package.signature",
        "import the repository's key with `rpm --import`, or set gpgkey in its .repo file",
    ),
    known(
        r"removing the following protected packages|protected package",
        "package.protected",
        "dnf refuses to remove packages that the system requires",
    ),
    known(
        r"scriptlet failed|Error in \w+ scriptlet",
        "package.script",
        "a script of the package failed; see its output below",
    ),
    known(
        r"Failed to download metadata|Cannot download repomd|Error during downloading metadata"
        r"|Error downloading packages|Cannot download|All mirrors were tried"
        r"|Errors during downloading|incorrect checksum|Error opening",
        DOWNLOAD,
        "the mirror is unreachable, or the package lists are out of date (`update_cache: 1h`)",
    ),
    known(
        r"Unable to find a match|No match for argument|No packages? .* available",
        "package.unknown",
        "refresh the package lists with `update_cache: 1h`, or add the repository that contains it",
    ),
    known(
        r"filtered out by exclude filtering|filtered out by modular filtering",
        "package.excluded",
        "check `exclude=` in /etc/dnf and /etc/yum.repos.d, and `dnf versionlock list`",
    ),
    known(
        r"nothing provides|conflicting requests|conflicts with|requires .*, but none of",
        "package.dependencies",
        "a dependency is not available in the host's repositories",
    ),
    known(
        r"malformed|rpmdb|Packages database|database disk image",
        "package.database",
        "check the RPM database on the host; `rpm --rebuilddb` usually repairs it",
    ),
)
_NOISE = re.compile(
    r"Last metadata expiration|Dependencies resolved|=+$|Transaction Summary|Running transaction"
    r"|Transaction (?:check|test) succeeded|Downloading Packages|Total |Installed size|Unable to"
    r" detect release|\s*(?:Preparing|Verifying) +:|\s*Package +Arch|Complete!|\(try to add"
    r"|(?!error|warning)[a-z_]+:(?: |$)"  # settings of a repository, its password among them
)
_ERROR = re.compile(r"^\s*(?:Error|error|RPM: error)\b[^:\n]*: *(.*(?:\n +\S.*)*)", re.MULTILINE)
_LOCK = re.compile(r"^.*already locked by \d+.*$", re.MULTILINE)
_SCRIPTLET = re.compile(r"^.*\bscriptlet failed.*$|^.*error in .* scriptlet.*$", re.M | re.I)
_KEYS = re.compile(r"you do not have any GPG public keys installed")
_IGNORED = re.compile(r"^Ignoring repositories: (.+)$", re.MULTILINE)
_PREFIX = re.compile(r"^(?:RPM: )?(?:error|warning): ")


def explain(what: str, result: "Result") -> "ResourceError":
    """Return the error of a failed dnf; ``what`` is the attempt, such as "installing nginx"."""
    headline = _headline(result.stdout + "\n" + result.stderr)
    return failures.explain(what, result, headline=headline, table=_TABLE, noise=_NOISE)


def ignored_repositories(result: "Result") -> str:
    """Return the repositories that could not be reached and that dnf is configured to skip in that
    case.
    """
    match = _IGNORED.search(result.stdout + "\n" + result.stderr)
    return match.group(1).strip() if match else ""


def script_failures(result: "Result") -> List[str]:
    """Return the failed package scripts in a transaction that dnf reports as successful."""
    text = result.stdout + "\n" + result.stderr
    messages: List[str] = []
    for line in _SCRIPTLET.findall(text):
        plain = _PREFIX.sub("", line.strip())
        if plain not in messages:
            messages.append(plain)
    return messages


def _headline(text: str) -> str:
    """Return the most informative line: a script, a lock or missing keys, or else dnf's first real
    error.
    """
    for pattern in (_SCRIPTLET, _LOCK, _KEYS):
        match = pattern.search(text)
        if match:
            return _PREFIX.sub("", match.group(0).strip())
    reasons = [" ".join(reason.split()) for reason in _ERROR.findall(text)]
    return next((reason for reason in reasons if reason), "")
