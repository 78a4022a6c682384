"""The cronjob type: manages one cron job (target; ``check`` runs on both sides)."""

import re
from typing import Any, List, Mapping, Optional, Pattern, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.host.ports import Host, HostReader

DIRECTORY = "/etc/cron.d"
HEADER = "# written by ccm\n"
MARK = "# ccm: "
WORDS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@reboot")
FIELD = re.compile(r"[0-9A-Za-z*,/-]+\Z")


class Resource(StateType):
    """One cron job: a file in cron.d, or two lines of a crontab."""

    noun = "job"
    partial = True  # other resources may change the same crontab

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """The schedule has five fields or is a word such as @daily; the command is one line."""
        problems = []
        schedule = properties.get("schedule", WORDS[0])
        fields = schedule.split()
        if schedule not in WORDS and (len(fields) != 5 or not all(map(FIELD.match, fields))):
            message = f"{schedule!r} is neither five fields nor a word such as @daily"
            problems.append(("schedule", message))
        if "\n" in properties.get("command", ""):
            problems.append(("command", "must be on one line"))
        return problems

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        if properties.get("crontab"):
            return []
        return [(f"{DIRECTORY}/{name}", properties.get("ensure") != "absent")]

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """The line below the mark in the crontab, or the file in /etc/cron.d."""
        if self.in_crontab:
            found = self.lines.search(self.crontab(host))
            return found and {"job": found.group(1)}
        if host.files.lstat(self.path) is None:
            return None
        text = host.files.read(self.path).decode("utf-8", "replace")
        return {"job": text.replace(HEADER, "", 1).rstrip("\n")}

    def desired(self) -> Mapping[str, Any]:
        user = [] if self.in_crontab else [self.user]
        command = self.properties["command"].replace("%", "\\%")  # to cron, % is a newline
        return {"job": " ".join([*self.properties["schedule"].split(), *user, command])}

    def apply(self, host: Host, diff: Diff) -> None:
        """The user must exist. A crontab keeps its other lines."""
        host.accounts.existing_user(self.user)
        job = self.desired()["job"]
        if self.in_crontab:
            others = self.lines.sub("", self.crontab(host))
            host.crontabs.set_text(self.user, f"{others}{MARK}{self.name}\n{job}\n")
        else:
            text = f"{HEADER}{job}\n"
            host.files.write(self.path, text.encode("utf-8"), mode=0o644, uid=0, gid=0)

    def remove(self, host: Host) -> None:
        """Removes the two lines from the crontab, or the file."""
        if self.in_crontab:
            host.crontabs.set_text(self.user, self.lines.sub("", self.crontab(host)))
        else:
            host.files.unlink(self.path)

    @property
    def user(self) -> str:
        """The user that the job runs as."""
        return str(self.properties.get("user", "root"))

    @property
    def in_crontab(self) -> bool:
        """Whether the job is in its user's crontab."""
        return bool(self.properties.get("crontab"))

    @property
    def path(self) -> str:
        """The file of a job that is not in a crontab."""
        return f"{DIRECTORY}/{self.name}"

    @property
    def lines(self) -> Pattern[str]:
        """The lines of the job in a crontab: a comment with its name, and the line after it."""
        return re.compile(f"^{MARK}{self.name}\n(.*)\n?", re.MULTILINE)

    def crontab(self, host: HostReader) -> str:
        """The crontab of the user; "" if there is no such user yet, or no crontab."""
        known = host.accounts.user(self.user) is not None
        return (host.crontabs.text(self.user) if known else None) or ""
