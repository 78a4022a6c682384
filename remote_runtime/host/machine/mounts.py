"""Mounts of the machine (target)."""

from typing import TYPE_CHECKING, Callable, List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import mount_ports
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.kernel.mounts import MountEntry, MountTable, described, users
from remote_runtime.system.kernel.pinned_paths import PinnedPaths
from remote_runtime.system.paths import is_within

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader
    from remote_runtime.host.machine.commands import Commands
    from remote_runtime.system.walk import Walker


class Mounts(mount_ports.Mounts):
    """Runs the programs of the host. ``walker`` has the open files."""

    def __init__(
        self,
        adapter: Callable[[], MountTable],
        files: "FileReader",
        commands: "Commands",
        walker: "Walker",
    ) -> None:
        super().__init__(adapter)
        self.files: FileReader = files
        self._commands, self._walker = commands, walker

    def _perform(self, argv: Sequence[str]) -> None:
        # An open directory would keep it busy, or refer to what is below the mount.
        self._walker.forget()
        pinned = PinnedPaths(self._walker)
        try:
            self._commands.run(_pinned(argv, pinned))
        except OSError as error:
            raise failure("inspect", argv[-1], error) from error
        except ResourceError as error:
            busy = described(users(argv[-1])) if argv[0] == "umount" else []
            if busy:
                raise mount_ports.busy_error(argv[-1], busy) from error
            output = pinned.named(error.output)
            lines = [line for line in output.strip().splitlines() if line.strip()]
            message = "%s: %s" % (pinned.named(error.message), lines[0]) if lines else error.message
            raise ResourceError(message, "resource.mount", error.hint, output) from error
        finally:
            pinned.close()
            self._walker.forget()
            self._adapter.forget()

    def refresh(self) -> None:
        self._adapter.forget()

    def _beneath(self, point: str) -> Optional[MountEntry]:
        stack = self._adapter.stack(point)
        return stack[-2] if len(stack) > 1 else None

    def _inside(self, point: str) -> List[str]:
        points = [one.point for one in self._adapter.all()]
        return [one for one in points if one != point and is_within(one, point)]

    def _users(self, point: str) -> List[str]:
        return []  # the kernel reports whether it is busy, and only then they are searched for

    def reload(self) -> None:
        self._commands.run(["systemctl", "daemon-reload"])


def _pinned(argv: Sequence[str], pinned: PinnedPaths) -> List[str]:
    """Call with paths that another user cannot redirect before the program uses them."""
    if argv[0] == "umount":  # which open files would keep busy
        words = [*argv[:-1], pinned.within(argv[-1])]
    elif argv[0] == "mount":
        words = [*argv[:-2], *(pinned.of(one) if _is_path(one) else one for one in argv[-2:])]
    else:
        return list(argv)
    # The program would resolve them to names again.
    return words if words == list(argv) else [words[0], "--no-canonicalize", *words[1:]]


def _is_path(word: str) -> bool:
    return word.startswith("/") and not word.startswith("//")
