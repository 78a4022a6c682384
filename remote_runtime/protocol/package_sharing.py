"""What a fleet's hosts learn of packages for one another, by way of the controller (target).

Only previews ask, and an installation tells whether it was true. What is shared is named by a
SHA-256 that this host's own index has for it.
"""

from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

from remote_runtime.errors import ProtocolError
from remote_runtime.lean import jsontext
from remote_runtime.lean.digest import sha256
from remote_runtime.protocol import wire
from remote_runtime.protocol.channel import Channel


def fingerprint(paths: Iterable[str], scripts: Mapping[str, str]) -> str:
    """What a package and an installation of it have in common (on both sides): paths, scripts."""
    told = [sorted(paths), [[name, scripts[name]] for name in sorted(scripts)]]
    return str(sha256(jsontext.dumps(told).encode("utf-8")).hexdigest())


class Shared(object):
    """Asks and tells over the ``channel``; without one nothing is known and nobody is told."""

    def __init__(self, channel: Optional[Channel] = None) -> None:
        self._channel = channel

    def known(self, shas: Sequence[str]) -> Dict[str, Any]:
        """What other hosts have learnt of these, as they sent it: not checked yet.

        The controller may let another host that is at it finish first. What is missing here is for
        this host to find out, and to ``tell``.
        """
        if self._channel is None or not shas:
            return {}
        self._channel.send({"t": "packages", "shas": list(shas)}, now=True)
        found = self._channel.expect("packages").get("known")
        if not isinstance(found, dict):
            raise ProtocolError("packages without what is known")
        return {sha: found[sha] for sha in shas if sha in found}

    def tell(self, found: Dict[str, Any], shas: Iterable[str]) -> None:
        """Say what was found out of ``shas``; what is not in ``found`` could not be."""
        if self._channel is None:
            return
        for sha in shas:
            message = {"t": "package", "sha": sha, "contents": found.get(sha)}
            if len(jsontext.dumps(message)) >= wire.MAX_FROM_TARGET - 1024:
                message["contents"] = None  # too much to travel
            self._channel.send(message)

    def confirm(self, prints: Dict[str, str]) -> None:
        """Say after an installation what came, as a ``fingerprint`` for each package."""
        if self._channel is not None and prints:
            self._channel.send({"t": "installed", "prints": prints})
