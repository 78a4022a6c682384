"""The settings of a run that apply to every host (controller)."""

from typing import Any, NamedTuple

from orchestrator.fleet.run_origin import Origin
from remote_runtime.options import RunOptions


class RunSettings(NamedTuple):
    """``user`` is the name in the lock on a host; ``origin`` has the details.

    ``manifest`` is the identity under which hosts store the run, "" if they store nothing. ``key``
    creates the receipts with which a later run requests the record of this run; "" for no record.
    """

    run_id: str
    user: str
    options: RunOptions = RunOptions()
    manifest: str = ""
    origin: Origin = Origin()
    key: str = ""

    def envelope(self) -> dict[str, Any]:
        """The members of the plan frame that do not come from the manifest."""
        # The controller bounds the host's run; a second clock would only race it.
        options = self.options._replace(timeout=0)
        members = {"run_id": self.run_id, "user": self.user, **options._asdict()}
        origin = self.origin.public_record()
        if origin:
            members["origin"] = origin
        return {**members, "manifest": self.manifest} if self.manifest else members
