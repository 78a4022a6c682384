"""``user``: an account (target)."""

import os
from typing import List

from remote_runtime.health.kind import (
    BOOLEAN,
    LIST,
    NUMBER,
    TEXT,
    Kind,
    ObservedValues,
    Probe,
    Rule,
    nothing,
)


class _User(Kind):
    identity = "username"
    attributes = {
        "exists": BOOLEAN,
        "uid": NUMBER,
        "gid": NUMBER,
        "groups": LIST,
        "home": TEXT,
        "shell": TEXT,
    }

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the entry of the user; its groups are read only when a rule compares them."""
        import pwd

        try:
            entry = pwd.getpwnam(subject)
        except KeyError:
            return nothing("there is no user %s" % subject, self.attributes)
        return {
            "exists": True,
            "uid": entry.pw_uid,
            "gid": entry.pw_gid,
            "groups": lambda: _groups(subject, entry.pw_gid, probe),
            "home": entry.pw_dir,
            "shell": entry.pw_shell,
        }


def _groups(name: str, gid: int, probe: Probe) -> List[str]:
    names = {probe.context.accounts.group_name(number) for number in os.getgrouplist(name, gid)}
    return sorted(names)


KIND = _User()
