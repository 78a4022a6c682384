"""``kernel-param``: a value of sysctl (target)."""

import os
from typing import List, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import SCALAR, Kind, ObservedValues, Probe, Rule

_ROOT = "/proc/sys"


class _KernelParam(Kind):
    identity = "name"
    attributes = {"value": SCALAR}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        if ".." in subject or subject.startswith(("/", ".")) or not subject.strip():
            return [
                ("name", "%r is not a kernel parameter such as net.ipv4.ip_forward" % subject, "")
            ]
        return []

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the current value in the kernel."""
        # As in sysctl, the first of the two signs is the separator.
        dotted = "/" not in subject or 0 <= subject.find(".") < subject.find("/")
        parts = subject.translate(str.maketrans("./", "/.")) if dotted else subject
        try:
            with open(os.path.join(_ROOT, parts), encoding="utf-8", errors="replace") as file:
                return {"value": file.read().strip()}
        except OSError as error:
            reason = error.strerror or str(error)
            raise ResourceError("sysctl %s cannot be read: %s" % (subject, reason)) from error


KIND = _KernelParam()
