"""The cron type: a job in /etc/cron.d or in the crontab of a user (target; ``check`` on both
sides)."""

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import refuse
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.cron import jobs, schedules

DIRECTORY = "/etc/cron.d"
_MODE = 0o644
DAEMONS = ("cron", "crond", "crontab")
INSTALLERS = ("crontab",)
_MAX_LENGTH = 998  # characters of a command that every cron takes
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\r\n\0]*\Z")


class Resource(StateType):
    """One job."""

    noun = "job"
    partial = True

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. A job is one line with a schedule, and not longer than
        cron accepts.
        """
        wrong = list(schedules.problems(properties))
        if properties.get("ensure") == "absent":
            return []
        timed = {"schedule", *schedules.FIELDS} & set(properties)
        if properties.get("command") is not None and not timed:
            wrong.append(("schedule", "set schedule, or minute, hour, day, month and weekday"))
        command = str(properties.get("command") or "")
        if any(char in command for char in "\n\r\0"):
            wrong.append(("command", "a job must be one line; use a script for more"))
        elif "command" in properties and not command.strip():
            wrong.append(("command", "the command is empty"))
        elif len(jobs.escaped(command)) > _MAX_LENGTH:
            wrong.append(("command", "cron accepts at most %d characters" % _MAX_LENGTH))
        for line in properties.get("environment") or ():
            if not _SETTING.match(str(line)):
                wrong.append(("environment", "each entry must be NAME=value, on one line"))
                break
        if properties.get("environment") and properties.get("crontab"):
            text = "in a crontab it would apply to the jobs below, too; write it into the command"
            wrong.append(("environment", text))
        return wrong

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        """See the base class. cron ignores files with special characters in their names, so the
        file gets another name.
        """
        file = jobs.file_name(name)
        warnings = schedules.warnings(properties)
        if file == name or properties.get("crontab"):
            return warnings
        text = "cron ignores files with this name, so the job is in %s/%s" % (DIRECTORY, file)
        return [("name", text, "use letters, digits, _ and -"), *warnings]

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        if properties.get("crontab"):
            return []
        path = "%s/%s" % (DIRECTORY, jobs.file_name(name))
        return [(path, properties.get("ensure") != "absent")]

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        """See the base class. Finds jobs with different names but the same file in /etc/cron.d."""
        files: Dict[str, int] = {}
        conflicts = []
        for at, (name, properties) in enumerate(resources):
            if not properties.get("crontab"):
                path = "%s/%s" % (DIRECTORY, jobs.file_name(name))
                if files.setdefault(path, at) != at:
                    conflicts.append((files[path], at, path))
        return conflicts

    @property
    def _own(self) -> bool:
        """Whether the job is in its user's crontab."""
        return self.properties.get("crontab") is True

    @property
    def _user(self) -> str:
        return str(self.properties.get("user") or "root")

    @property
    def _comment(self) -> str:
        return str(self.properties.get("comment") or "")

    @property
    def _path(self) -> str:
        return "%s/%s" % (DIRECTORY, jobs.file_name(self.name))

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        return self._read_crontab(host) if self._own else self._read_file(host)

    def _read_file(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        node = host.files.lstat(self._path)
        if node is None:
            return None
        if node.kind != "file":
            refuse(self._path, node)
        data = host.files.read(self._path)
        job = jobs.job_in_file(data.decode("utf-8", "replace"))
        state = self._shown(job)
        state["mode"] = "%04o" % node.mode
        state["owner"] = host.accounts.user_name(node.uid) or str(node.uid)
        state["content"] = FileText(data, node.mode, self._path)
        return state

    def _read_crontab(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        if host.accounts.user(self._user) is None:
            return None
        text = host.crontabs.text(self._user)
        job = None if text is None else jobs.job_in_crontab(text, self.name, self._comment)
        return None if job is None else self._shown(job)

    def _shown(self, job: Optional[jobs.Job]) -> Dict[str, Any]:
        """Return the record of a job."""
        if job is None:
            return {"job": None, "environment": []}
        state: Dict[str, Any] = {"job": "%s %s" % (job.schedule, job.command)}
        if not self._own:
            state.update(user=job.user, environment=list(job.environment))
        return state

    def desired(self) -> Mapping[str, Any]:
        """See the base class. The job and, for a file in /etc/cron.d, also its mode, owner and
        text.
        """
        job = jobs.job_of(self.properties)
        wanted = self._shown(job)
        if not self._own:
            text = self._file_text(job)
            wanted["mode"] = "%04o" % _MODE
            wanted["owner"] = "root"
            wanted["content"] = FileText(text, _MODE, self._path)
        return wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Runs crontab for a user's crontab, and otherwise writes a file. The
        user must exist.
        """
        host.accounts.require_user(self._user)
        self._require_cron(host)
        job = jobs.job_of(self.properties)
        if self._own:
            text = host.crontabs.text(self._user) or ""
            text = jobs.with_job(text, self.name, job, self._comment)
            host.crontabs.set_text(self._user, text)
            return
        host.files.write(self._path, self._file_text(job), mode=_MODE, uid=0, gid=0, firm=True)

    def _file_text(self, job: jobs.Job) -> bytes:
        text = jobs.file_text(self.name, job, self._comment)
        return text.encode("utf-8", "surrogateescape")

    def _require_cron(self, host: Host) -> None:
        """``ResourceError`` if nothing would run the job."""
        programs = INSTALLERS if self._own else DAEMONS
        there = any(host.commands.find(program) for program in programs)
        names = " or ".join(filter(None, (", ".join(programs[:-1]), programs[-1])))
        if there and (self._own or host.files.stat(DIRECTORY) is not None):
            return
        if there:
            what = "the directory %s does not exist" % DIRECTORY
        else:
            what = "cron is not installed: found no program named %s" % names
        raise ResourceError(
            what,
            kind="resource.cron",
            hint="install cron (Debian) or cronie (Red Hat) in an earlier package resource",
        )

    def remove(self, host: Host) -> None:
        if self._own:
            text = host.crontabs.text(self._user) or ""
            host.crontabs.set_text(self._user, jobs.without_job(text, self.name, self._comment))
        else:
            host.files.unlink(self._path, kind="file")
