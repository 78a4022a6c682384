"""The port to what can be waited for (target): see ``ports``."""

from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence

if TYPE_CHECKING:
    from remote_runtime.host.command import Command


class Condition(NamedTuple):
    """What holds or not: exactly one of ``port``, ``url``, ``file`` and ``command`` is given.

    A port of ``host`` accepts connections, a URL answers with one of the ``statuses``, something is
    at a path, a command exits with 0.
    """

    host: str = ""
    port: int = 0
    url: str = ""
    statuses: Sequence[int] = ()
    allow_insecure: bool = False
    file: str = ""
    command: "Optional[Command]" = None

    def words(self, wanted: bool) -> str:
        """It in words that follow "until"; ``wanted``: that it holds."""
        if self.port:
            state = "accepts" if wanted else "accepts no"
            return "port %d of %s %s connections" % (self.port, self.host, state)
        if self.url:
            from remote_runtime.health.kinds.http import KIND

            state = "answers" if wanted else "does not return"
            return "%s %s %s" % (
                KIND.shown(self.url),
                state,
                " or ".join(map(str, self.statuses)),
            )
        if self.command is not None:
            return "%s %s" % (self.command.text, "exits 0" if wanted else "does not exit 0")
        return "%s %s" % (self.file, "exists" if wanted else "does not exist")


class ConditionResult(NamedTuple):
    """What one look found: whether a condition holds, in words, and what a command printed."""

    holds: bool
    seen: str
    output: str = ""


class ConditionReader(object):
    """Looks whether conditions hold, in a preview of the network as it is now."""

    def look(self, condition: Condition, seconds: float) -> ConditionResult:
        """Look once, at most so long. ``ResourceError`` where that cannot be told at all."""
        raise NotImplementedError


class Conditions(ConditionReader):
    """Waits until conditions hold."""

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """Look again every ``interval`` seconds until a condition holds, or does not if that is
        ``wanted``, or it is ``until`` by ``time.monotonic``. What the last look found; ``first`` is
        what the one before found.

        A preview does not wait, and assumes that it will come.
        """
        raise NotImplementedError
