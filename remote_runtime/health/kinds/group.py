"""``group``: an account's group (target)."""

from remote_runtime.health.kind import BOOLEAN, NUMBER, Kind, ObservedValues, Probe, Rule, nothing


class _Group(Kind):
    identity = "groupname"
    attributes = {"exists": BOOLEAN, "gid": NUMBER}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Asks the C library, so the groups of LDAP and other databases count."""
        import grp

        try:
            entry = grp.getgrnam(subject)
        except KeyError:
            return nothing("there is no group %s" % subject, self.attributes)
        return {"exists": True, "gid": entry.gr_gid}


KIND = _Group()
