"""Package metadata that hosts share through the controller (target).

Only previews request it, and an installation reports whether it was correct. The key is a SHA-256
from this host's own index.
"""

from typing import Any, Dict, Iterable, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.protocol.channel import Channel
from remote_runtime.stdlib_light import json_text
from remote_runtime.stdlib_light.sha256_digest import sha256


def fingerprint(paths: Iterable[str], scripts: Mapping[str, str]) -> str:
    """Return the common fingerprint of a package and its installation (both sides): paths and
    scripts."""
    description = [sorted(paths), [[name, scripts[name]] for name in sorted(scripts)]]
    return str(sha256(json_text.dumps(description).encode("utf-8")).hexdigest())


class SharedMetadata(NamedTuple):
    """The metadata of packages by SHA-256, as other hosts sent it, not checked yet.

    ``known`` has the metadata that two hosts, or this one, reported; ``alone`` has that of a single
    other host. ``left`` has the packages that this host should read itself, in addition to those in
    neither.
    """

    known: Dict[str, Any]
    alone: Dict[str, Any]
    left: Sequence[str]


class PackageSharing(object):
    """Requests and reports metadata over the ``channel``; without one, it does nothing."""

    def __init__(self, channel: Optional[Channel] = None) -> None:
        self._channel = channel

    def known(self, shas: Sequence[str]) -> SharedMetadata:
        """Return the findings of other hosts about these packages.

        The controller may wait for another host that is examining them.
        """
        if self._channel is None or not shas:
            return SharedMetadata({}, {}, shas)
        self._channel.send({"t": "packages", "shas": list(shas)}, now=True)
        answer = self._channel.expect("packages")
        known, alone, left = (answer.get(key) for key in ("known", "alone", "left"))
        if not (isinstance(known, dict) and isinstance(alone, dict) and isinstance(left, list)):
            raise ProtocolError("packages without their known contents")
        return SharedMetadata(
            {sha: known[sha] for sha in shas if sha in known},
            {sha: alone[sha] for sha in shas if sha in alone},
            [sha for sha in shas if sha in left],
        )

    def tell(self, contents: Dict[str, Any], shas: Iterable[str]) -> None:
        """Report the findings about ``shas``; packages missing from ``contents`` could not
        be read.
        """
        if self._channel is None:
            return
        for sha in shas:
            message = {"t": "package", "sha": sha, "contents": contents.get(sha)}
            if len(json_text.dumps(message)) >= wire.MAX_FROM_TARGET - 1024:
                message["contents"] = None  # too much to travel
            self._channel.send(message)

    def confirm(self, prints: Dict[str, str]) -> None:
        """Report what was installed, as a ``fingerprint`` for each package."""
        if self._channel is not None and prints:
            self._channel.send({"t": "installed", "prints": prints})
