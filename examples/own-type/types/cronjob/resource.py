"""The cronjob type: manages one cron job (target; ``check`` runs on both sides)."""

import re
from typing import List, Tuple

from remote_runtime.base import Action, Change, Missing, Properties, ResourceType, State

WORDS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@reboot")
FIELD = re.compile(r"[0-9A-Za-z*,/-]+\Z")


class Resource(ResourceType):
    """One cron job."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """Check what the schema cannot: the format of a schedule, and that a job is one line."""
        problems = []
        schedule = properties.get("schedule", WORDS[0])
        fields = schedule.split()
        if schedule not in WORDS and (len(fields) != 5 or not all(map(FIELD.match, fields))):
            problems.append(("schedule", f"{schedule!r} is neither five fields nor a word"))
        if "\n" in properties.get("command", ""):
            problems.append(("command", "a job is one line"))
        return problems

    @property
    def user(self) -> str:
        """The user that the job runs as."""
        return str(self.properties.get("user", "root"))

    def observe(self) -> State:
        """The current job; changes nothing."""
        job = self.provider.read(self.name, self.user)
        return State("present" if job else "absent", job=job)

    def actions(self, state: State, refresh: bool) -> List[Action]:
        """The changes that are needed, each with a message and the function that makes it."""
        if self.ensure == "absent":
            if not state.job:
                return []
            change = Change("ensure", "present", "absent")
            effects = self.provider.removed(self.name, self.user)
            return [Action("Would have removed the job", self.remove, [change], effects)]
        wanted = self.wanted_job()
        if state.job == wanted:
            return []
        message = "Would have updated the job" if state.job else "Would have created the job"
        effects = self.provider.written(self.name, self.user, wanted)
        action = Action(message, self.write, [Change("job", state.job, wanted)], effects)
        why, hint = self.context.accounts.lacking("user", self.user)
        if why:  # in a preview, an earlier resource may create the user
            raise Missing(why, would=[action], hint=hint)
        return [action]

    def wanted_job(self) -> str:
        """The line of the job; percent signs are escaped, because cron turns them into newlines."""
        command = self.properties["command"].replace("%", "\\%")
        return " ".join([*self.properties["schedule"].split(), command])

    def write(self) -> None:
        """Write the job."""
        self.context.progress(f"writing the job {self.name}")
        self.provider.write(self.name, self.user, self.wanted_job())

    def remove(self) -> None:
        """Remove the job."""
        self.context.progress(f"removing the job {self.name}")
        self.provider.remove(self.name, self.user)
