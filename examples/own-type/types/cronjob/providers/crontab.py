"""Jobs as lines in the crontab of a user (target)."""

from typing import List, Tuple

from remote_runtime.base import Effect, Properties, Uncertainty, UnknownEffect
from remote_runtime.base import Provider as BaseProvider
from remote_runtime.errors import ResourceError

MARK = "# ccm: "


def _spool(kind: str, value: str, present: bool) -> bool:
    """Whether crontab may change this: files below /var/spool, and the output of commands."""
    return kind == "host" or (kind == "path" and value.startswith("/var/spool/"))


class Provider(BaseProvider):
    """Each job is a line after a comment with its name; all other lines stay unchanged."""

    name = "crontab"
    priority = 10

    def unsupported_reason(self, properties: Properties) -> str:
        """Return why this host has no crontabs, or ""."""
        return "" if self.context.commands.find("crontab") else "crontab was not found"

    def read(self, name: str, user: str) -> str:
        """The job, or "" if there is none."""
        return self._split(self._lines(user), name)[0]

    def write(self, name: str, user: str, job: str) -> None:
        """Replace the job, or append it."""
        others = self._split(self._lines(user), name)[1]
        self._install(user, [*others, MARK + name, job])

    def remove(self, name: str, user: str) -> None:
        """Remove the job and its comment."""
        self._install(user, self._split(self._lines(user), name)[1])

    def written(self, name: str, user: str, job: str) -> List[Effect]:
        """The effects of ``write``: the location of crontab's files differs between systems."""
        return [
            UnknownEffect(
                Uncertainty("assumed", f"cronjob#{name} changes the crontab of {user}"), _spool
            )
        ]

    def removed(self, name: str, user: str) -> List[Effect]:
        """The effects of ``remove``, for previews."""
        return self.written(name, user, "")

    def _split(self, lines: List[str], name: str) -> Tuple[str, List[str]]:
        if MARK + name not in lines:
            return "", lines
        at = lines.index(MARK + name)
        return "".join(lines[at + 1 : at + 2]), lines[:at] + lines[at + 2 :]

    def _lines(self, user: str) -> List[str]:
        result = self.context.commands.run(["crontab", "-u", user, "-l"])
        if result.code and "no crontab for" not in result.stderr:
            raise ResourceError(f"crontab -l failed: {result.tail(3)}", kind="cron.read")
        return [] if result.code else result.stdout.splitlines()

    def _install(self, user: str, lines: List[str]) -> None:
        text = "".join(line + "\n" for line in lines)
        result = self.context.commands.run(["crontab", "-u", user, "-"], input=text.encode("utf-8"))
        if result.code:
            raise ResourceError(f"crontab failed: {result.tail(3)}", kind="cron.write")
