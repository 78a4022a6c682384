"""``matching``: a value of the manifest itself, such as a template's (target)."""

from remote_runtime.health.kind import ANYTHING, Kind, ObservedValues, Probe, Rule


class _Matching(Kind):
    attributes = {"matches": ANYTHING}
    settings = {"content": ANYTHING}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        return {"matches": rule.get("content")}


KIND = _Matching()
