"""Mounts of the machine (target)."""

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import mounts
from remote_runtime.system.kernel.mounts import MountEntry, MountTable, users
from remote_runtime.system.paths import is_within

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader
    from remote_runtime.host.machine.commands import Commands


class Mounts(mounts.Mounts):
    """Runs the programs of the host. ``forget`` drops what is open of the file systems."""

    def __init__(
        self,
        door: Callable[[], MountTable],
        files: "FileReader",
        commands: "Commands",
        forget: Callable[[], object],
    ) -> None:
        super().__init__(door)
        self.files: FileReader = files
        self._commands, self._forget = commands, forget

    def _perform(self, argv: Sequence[str]) -> None:
        self._forget()  # an open directory would keep it busy, or lead below what is mounted
        try:
            self._commands.run(argv)
        except ResourceError as error:
            busy = users(argv[-1]) if argv[0] == "umount" else []
            if busy:
                raise mounts.busy_error(argv[-1], busy) from error
            lines = [line for line in error.output.strip().splitlines() if line.strip()]
            message = "%s: %s" % (error.message, lines[0]) if lines else error.message
            raise ResourceError(message, "resource.mount", error.hint, error.output) from error
        finally:
            self._door.forget()

    def refresh(self) -> None:
        """See the base class."""
        self._door.forget()

    def _beneath(self, point: str) -> Optional[MountEntry]:
        stack = self._door.stack(point)
        return stack[-2] if len(stack) > 1 else None

    def _inside(self, point: str) -> List[str]:
        points = [one.point for one in self._door.all()]
        return [one for one in points if one != point and is_within(one, point)]

    def _users(self, point: str) -> List[str]:
        return []  # the kernel tells whether it is busy, and only then they are looked for

    def reload(self) -> None:
        """See the base class."""
        self._commands.run(["systemctl", "daemon-reload"])
