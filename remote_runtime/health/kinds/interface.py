"""``interface``: a network interface (target)."""

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import (
    BOOLEAN,
    LIST,
    NUMBER,
    Kind,
    ObservedValues,
    Probe,
    Rule,
    nothing,
)


class _Interface(Kind):
    identity = "name"
    attributes = {"exists": BOOLEAN, "addrs": LIST, "mtu": NUMBER}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the state of the interface in the kernel."""
        from remote_runtime.facts import network
        from remote_runtime.facts.fact_source import Source

        try:
            known = network.read(Source())["interfaces"]
        except OSError as error:
            raise ResourceError("the kernel does not list its interfaces: %s" % error) from error
        for entry in known:
            if entry["name"] == subject:
                addresses = [address["addr"] for address in entry["addrs"]]
                return {"exists": True, "addrs": addresses, "mtu": entry["mtu"]}
        return dict(nothing("there is no interface %s" % subject, self.attributes), addrs=[])


KIND = _Interface()
