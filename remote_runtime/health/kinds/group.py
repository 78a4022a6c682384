"""``group``: an account's group (target)."""

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import BOOLEAN, NUMBER, Found, Kind, Probe, Rule


class _Group(Kind):
    identity = "groupname"
    attributes = {"exists": BOOLEAN, "gid": NUMBER}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> Found:
        import grp

        try:
            entry = grp.getgrnam(subject)
        except KeyError:
            return {"exists": False, "gid": lambda: _missing(subject)}
        return {"exists": True, "gid": entry.gr_gid}


def _missing(name: str) -> None:
    raise ResourceError("there is no group %s" % name)


KIND = _Group()
