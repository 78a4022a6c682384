"""The cron type: a job is there as described, or it is not (target; ``check`` on both sides)."""

import re
from typing import List, Tuple

from remote_runtime.base import Action, Change, Missing, Properties, ResourceType, State

WORDS = ("@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@reboot")
FIELD = re.compile(r"[0-9A-Za-z*,/-]+\Z")


class Resource(ResourceType):
    """One job at its turn."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """What the schema cannot say: the form of a schedule, and that a job is one line."""
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
        """Whom the job runs as."""
        return str(self.properties.get("user", "root"))

    def observe(self) -> State:
        """The job as it is now; changes nothing."""
        job = self.provider.read(self.name, self.user)
        return State("present" if job else "absent", job=job)

    def actions(self, state: State, refresh: bool) -> List[Action]:
        """What differs, as a description with the call that mends it."""
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
        if why:  # in a preview an earlier resource may bring the user
            raise Missing(why, would=[action], hint=hint)
        return [action]

    def wanted_job(self) -> str:
        """The job's line; cron makes line breaks of percent signs, so they are escaped."""
        command = self.properties["command"].replace("%", "\\%")
        return " ".join([*self.properties["schedule"].split(), command])

    def write(self) -> None:
        """Put the job there."""
        self.context.progress(f"writing the job {self.name}")
        self.provider.write(self.name, self.user, self.wanted_job())

    def remove(self) -> None:
        """Take the job away."""
        self.context.progress(f"removing the job {self.name}")
        self.provider.remove(self.name, self.user)
