"""Continues a run after a reboot of its host (target).

Before the reboot, the host sends the state of the run to the controller, which returns it with the
plan once the host is back.
"""

from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Sequence

from remote_runtime.errors import ProtocolError

if TYPE_CHECKING:
    from remote_runtime.protocol.channel import Channel


class Boot(NamedTuple):
    """The reboot after which a run continues.

    ``cause`` is the resource that requested it, ``done`` the status of each resource that ran
    before it, by index, ``references`` their results for ``require`` and ``subscribe``.
    """

    cause: int
    done: Dict[int, str]
    references: Sequence[str]

    def knows(self, references: Sequence[str]) -> bool:
        """Return whether all of these ran before the reboot."""
        return all(reference in self.references for reference in references)


def parse(entry: Dict[str, Any], references: Sequence[str]) -> Boot:
    """Parse the member ``reboot`` of ``earlier``. ``ProtocolError``."""
    index, done = entry.get("index"), entry.get("done")
    if not isinstance(index, int) or not isinstance(done, dict):
        raise _broken()
    result = {}
    for key, status in done.items():
        if not str(key).isdigit() or not isinstance(status, str):
            raise _broken()
        result[int(key)] = status
    return Boot(index, result, references)


def announce(channel: "Channel", index: int, seconds: float, record: Dict[str, Any]) -> None:
    """Make the controller wait for the host, with the ``record`` of an engine. ``Cancelled``."""
    earlier = {
        "resources": record["resources"],
        "reboot": {"index": index, "done": record["done"]},
    }
    channel.send(
        {"t": "rebooting", "index": index, "timeout": seconds, "earlier": earlier}, now=True
    )
    channel.expect("reboot")


def _broken() -> ProtocolError:
    return ProtocolError("invalid plan: earlier: invalid reboot")
