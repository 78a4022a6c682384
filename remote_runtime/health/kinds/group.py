"""``group``: an account's group (target)."""

from remote_runtime.health.kind import BOOLEAN, NUMBER, Kind, ObservedValues, Probe, Rule, nothing


class _Group(Kind):
    identity = "groupname"
    attributes = {"exists": BOOLEAN, "gid": NUMBER}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """See the base class. The C library is queried, so the groups of LDAP and other databases
        are included.
        """
        import grp

        try:
            entry = grp.getgrnam(subject)
        except KeyError:
            return nothing("there is no group %s" % subject, self.attributes)
        return {"exists": True, "gid": entry.gr_gid}


KIND = _Group()
