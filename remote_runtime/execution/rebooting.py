"""A run that goes on after its host was rebooted (target).

Before the host goes down the controller is told what the run has come to, which it gives back with
the plan once the host is there again.
"""

from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence

from remote_runtime.errors import ProtocolError

if TYPE_CHECKING:
    from remote_runtime.protocol.channel import Channel


class Boot(NamedTuple):
    """The reboot behind which a run goes on.

    ``cause`` is the resource that asked for it, ``done`` the status of each that had had its turn,
    by index, ``references`` what may be required or subscribed to of those.
    """

    cause: int
    done: Dict[int, str]
    references: Sequence[str]

    def knows(self, references: Sequence[str]) -> bool:
        """Whether all of these had had their turn before it."""
        return all(reference in self.references for reference in references)


def parse(entry: Dict[str, Any], references: Sequence[str]) -> Boot:
    """What the member ``reboot`` of ``earlier`` says. ``ProtocolError``."""
    index, done = entry.get("index"), entry.get("done")
    if not isinstance(index, int) or not isinstance(done, dict):
        raise _broken()
    found = {}
    for key, status in done.items():
        if not str(key).isdigit() or not isinstance(status, str):
            raise _broken()
        found[int(key)] = status
    return Boot(index, found, references)


def announce(channel: "Channel", index: int, seconds: float, record: Dict[str, Any]) -> None:
    """Have the controller wait for the host, with the ``record`` of an engine. ``Cancelled``."""
    earlier = {
        "resources": record["resources"],
        "reboot": {"index": index, "done": record["done"]},
    }
    channel.send(
        {"t": "rebooting", "index": index, "timeout": seconds, "earlier": earlier}, now=True
    )
    channel.expect("reboot")


def _broken() -> ProtocolError:
    return ProtocolError("the plan is broken: earlier: reboot is not what it should be")
