"""Programs on the machine (target)."""

from typing import TYPE_CHECKING, Callable, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands as Door


class CommandReader(ports.CommandReader):
    """Looks programs up through the door to them: the machine's own, or that of an overlay."""

    def __init__(self, door: "Door") -> None:
        self._door = door

    def find(self, program: str) -> str:
        """See the base class."""
        return self._door.find(program)

    def require(self, program: str) -> None:
        """``ResourceError`` for a program that cannot be started."""
        why, hint = self._door.lacking(program)
        if why:
            raise ResourceError(why, kind="resource.command", hint=hint)


class Commands(CommandReader, ports.Commands):
    """Runs programs; ``ran`` is called after each, which may have changed accounts."""

    def __init__(self, door: "Door", ran: Callable[[], None]) -> None:
        super().__init__(door)
        self._ran = ran

    def run(
        self,
        argv: Sequence[str],
        *,
        input: Optional[bytes] = None,  # noqa: A002 - as in the base class
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
    ) -> None:
        """See the base class."""
        self.require(argv[0])
        try:
            result = self._door.run(argv, input=input, timeout=timeout, user=user)
        finally:
            self._ran()
        if result.timed_out or result.code != 0:
            raise ResourceError(
                "%s: %s" % (argv[0], result.ending(timeout)),
                kind="resource.command",
                output=result.tail(),
            )
