"""The phases of one host's run (controller): stored keys and displayed words."""

import enum


class Phase(str, enum.Enum):
    """One step of a host's run; its value is stored in the run directory and in ``--json``."""

    WAITING = "waiting"
    CONNECTING = "connecting"
    AUTHENTICATING = "authenticating"
    STARTING = "starting"
    GATHERING = "gathering"
    PLANNING = "planning"
    RUNNING = "running"
    REBOOTING = "rebooting"
    DONE = "done"

    @property
    def words(self) -> str:
        """Return the activity of a host in words."""
        return _WORDS.get(self, self.value)

    @property
    def is_opening(self) -> bool:
        """Whether a host is being contacted and has not sent its facts; nothing on it is read or
        changed before that.
        """
        return self in _OPENING


_OPENING = (Phase.CONNECTING, Phase.AUTHENTICATING, Phase.STARTING, Phase.GATHERING)
_WORDS = {Phase.WAITING: "waiting for a slot", Phase.GATHERING: "gathering facts"}
