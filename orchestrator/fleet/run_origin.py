"""The origin of a run: user, machine, version of ccm and commit (controller)."""

import os
import subprocess
from collections.abc import Mapping
from typing import Any, NamedTuple

from orchestrator.fleet.store import field_checks
from orchestrator.manifest.identity import repository
from orchestrator.support.plain_text import one_line
from remote_runtime.version import VERSION

ACTOR = "CCM_ACTOR"  # the user who started a pipeline
GIT_TIMEOUT = 5.0  # seconds
MAX_LENGTH = 200  # characters of a name
SHORT = 8  # digits of a commit where people read it


class Origin(NamedTuple):
    """The origin of a run; "" means unknown.

    ``user`` is the local user on ``machine``, ``actor`` the value of ``CCM_ACTOR``. ``commit`` is
    the commit of the manifest's repository, and ``clean`` whether the checkout equals it, without
    new files; None outside of a Git repository.
    """

    user: str = ""
    machine: str = ""
    actor: str = ""
    ccm: str = ""
    commit: str = ""
    clean: bool | None = None

    def record(self) -> dict[str, Any]:
        """The form used in a run's record and in ``--json``."""
        return self._asdict()

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Origin":
        """Read the result of ``record``; ValueError if it is damaged."""
        members = field_checks.mapping(record)
        texts = {
            name: field_checks.word(members.get(name, ""))
            for name in cls._fields
            if name != "clean"
        }
        clean = members.get("clean")
        return cls(**texts, clean=None if clean is None else field_checks.flag(clean))

    @property
    def who(self) -> str:
        """The person or pipeline, and its location: ``alice@desk``, ``deploy-bot (ci@runner)``."""
        local = "@".join(filter(None, (self.user, self.machine)))
        return f"{self.actor} ({local})" if self.actor and local else self.actor or local

    @property
    def version(self) -> str:
        """The abbreviated commit, with ``+`` if files differ from it."""
        return self.commit[:SHORT] + ("+" if self.clean is False else "")

    @property
    def words(self) -> str:
        """The origin in one line; "" if it is unknown."""
        parts = [f"by {self.who}" if self.who else "", f"with ccm {self.ccm}" if self.ccm else ""]
        if self.commit:
            changed = " with uncommitted changes" if self.clean is False else ""
            parts.append(f"commit {self.commit[:SHORT]}{changed}")
        return ", ".join(filter(None, parts))

    def public_record(self) -> dict[str, str]:
        """The part after the user in a host's log line; a commit that is not clean ends with
        ``+``."""
        commit = self.commit and self.commit + ("+" if self.clean is False else "")
        texts = {"actor": self.actor, "ccm": self.ccm, "commit": commit}
        return {name: text for name, text in texts.items() if text}


def local_user() -> str:
    """Return the user name of this process; its number if the user has no name."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def origin_of(manifest: str) -> Origin:
    """The origin of a run that this process starts; ``manifest`` is the path of its manifest, ""
    without one."""
    commit, clean = _commit(repository(manifest)) if manifest else ("", None)
    return Origin(
        user=local_user(),
        machine=os.uname().nodename,
        actor=one_line(os.environ.get(ACTOR, ""), MAX_LENGTH),
        ccm=VERSION,
        commit=commit,
        clean=clean,
    )


def _commit(top: str) -> tuple[str, bool | None]:
    """The commit of a Git repository, and whether nothing differs from it."""
    if not top or not os.path.exists(os.path.join(top, ".git")):
        return "", None
    command = [
        *("git", "-C", top, "--no-optional-locks", "-c", "core.fsmonitor=false"),
        *("status", "--porcelain=v2", "--branch"),
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "", None  # no Git here, or a repository that it does not trust
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    commits = [line.split()[-1] for line in lines if line.startswith("# branch.oid ")]
    commit = next((one for one in commits if one != "(initial)"), "")
    return commit, all(line.startswith("#") for line in lines) if commit else None
