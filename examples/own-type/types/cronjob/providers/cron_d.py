"""Jobs as files in /etc/cron.d, one file per job (target)."""

import os
from typing import List, Tuple

from remote_runtime.base import Effect, PathEffect, Properties
from remote_runtime.base import Provider as BaseProvider
from remote_runtime.content import Text
from remote_runtime.system.attributes import Attributes

DIRECTORY = "/etc/cron.d"
HEADER = "# written by ccm\n"
LIMIT = 64 << 10  # bytes; a job is one line


def split_job(line: str) -> Tuple[str, str]:
    """The schedule, and the rest of the line."""
    count = 1 if line.startswith("@") else 5
    fields = line.split(" ", count)
    return " ".join(fields[:count]), " ".join(fields[count:])


class Provider(BaseProvider):
    """A file with the name of the job, replaced atomically."""

    name = "cron_d"
    priority = 1
    directory = DIRECTORY

    def unsupported_reason(self, properties: Properties) -> str:
        """Return why files in cron.d cannot be used on this host, or ""."""
        if os.geteuid() != 0:
            return f"only root may write to {self.directory}"
        if not self.context.files.is_directory(self.directory):
            return f"there is no {self.directory}"
        return ""

    def read(self, name: str, user: str) -> str:
        """The job without its user, or "" if there is none."""
        path = os.path.join(self.directory, name)
        if self.context.files.status(path) is None:
            return ""
        text = self.context.files.read(path, LIMIT).decode("utf-8", "replace")
        line = text[len(HEADER) :].rstrip("\n") if text.startswith(HEADER) else text
        times, rest = split_job(line)
        owner, _, command = rest.partition(" ")
        return f"{times} {command}" if owner == user else line

    def text(self, user: str, job: str) -> str:
        """The content of a file: a header and the job."""
        times, command = split_job(job)
        return f"{HEADER}{times} {user} {command}\n"

    def written(self, name: str, user: str, job: str) -> List[Effect]:
        """The effects of ``write``, for previews."""
        path = os.path.join(self.directory, name)
        return [PathEffect(path, "file", 0o644, 0, 0, Text(self.text(user, job)))]

    def removed(self, name: str, user: str) -> List[Effect]:
        """The effects of ``remove``, for previews."""
        return [PathEffect(os.path.join(self.directory, name), "absent")]

    def write(self, name: str, user: str, job: str) -> None:
        """Write the file of the job."""
        temporary = self.context.files.temporary(os.path.join(self.directory, name))
        try:
            temporary.write(self.text(user, job).encode("utf-8"))
            temporary.finish(0, 0, 0o644, Attributes(self.context.commands))
            temporary.commit()
        finally:
            temporary.discard()

    def remove(self, name: str, user: str) -> None:
        """Remove the file."""
        self.context.files.remove(os.path.join(self.directory, name))
