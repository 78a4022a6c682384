"""The parameters of the kernel, and the files that set them at the next boot (target)."""

import os
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.kernel.sysctl_files import SYSCTL_CONF, Setting, name_of, parsed

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

PROC = "/proc/sys"
ETC = "/etc"
BESIDE = ("/run", "/usr/local/lib", "/usr/lib")  # where other files for sysctl are
_LIMIT = 1 << 20  # bytes of a file of settings
_MAX_LENGTH = 1 << 16  # bytes of a value


class Kernel(object):
    """The kernel of the machine. ``acted`` counts changes to the machine: the settings files are
    read again only after a change.
    """

    def __init__(self, files: "Files", acted: Callable[[], int]) -> None:
        self._files, self._acted = files, acted
        self._read_at = -1
        self._settings: Dict[str, List[Setting]] = {}

    def value(self, key: str) -> Optional[str]:
        """The value of a parameter, by its path below PROC; None for an unknown one.
        ``ResourceError`` for one that cannot be read."""
        path = os.path.join(PROC, key)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise failure("read", path, error) from error
        try:
            data = os.read(descriptor, _MAX_LENGTH)
        except IsADirectoryError as error:
            raise ResourceError(
                "%s is a directory of kernel parameters" % path,
                kind="resource.sysctl",
                hint="name one of: %s" % ", ".join(sorted(os.listdir(path))[:5]),
            ) from error
        except OSError as error:
            raise failure("read", path, error) from error
        finally:
            os.close(descriptor)
        return data.decode("utf-8", "replace").strip("\n")

    def names_beside(self, key: str) -> List[str]:
        """The names in the directory where a parameter would be, sorted."""
        try:
            return sorted(os.listdir(os.path.dirname(os.path.join(PROC, key))))
        except OSError:
            return []

    def require_settable(self, key: str) -> None:
        """``ResourceError`` for a parameter that cannot be set here."""
        path = os.path.join(PROC, key)
        if os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            return
        mode = os.stat(path).st_mode
        if not mode & 0o222:
            reason, hint = "the kernel does not allow changes to it", "omit the parameter"
        elif os.statvfs(path).f_flag & os.ST_RDONLY:
            reason = "%s is read-only here; this host may be a container" % PROC
            hint = "set it on the container's host, or set live: false"
        else:
            reason = "only root may set kernel parameters"
            hint = "use become for the host, or connect as root"
        raise ResourceError(
            "%s cannot be set: %s" % (name_of(key), reason), kind="resource.sysctl", hint=hint
        )

    def set_value(self, key: str, value: str) -> None:
        """Set a parameter to a value. ``ResourceError`` if the kernel refuses it."""
        path = os.path.join(PROC, key)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.write(descriptor, os.fsencode(value) + b"\n")
            finally:
                os.close(descriptor)
        except OSError as error:
            raise ResourceError(
                "the kernel refuses the value %r for %s: %s"
                % (value, name_of(key), error.strerror),
                kind="resource.sysctl",
                hint="check the value; sysctl(8) and the kernel's documentation have the limits",
            ) from error

    def is_loaded(self, module: str) -> bool:
        """Return whether it has a module, loaded or built in."""
        from remote_runtime.system.kernel import modules

        return modules.plain(module) in modules.loaded() or modules.is_built_in(module)

    def settings(self, key: str) -> Sequence[Setting]:
        """The settings of a parameter in all files, in the order in which the boot applies them;
        the last one takes effect.
        """
        if self._acted() != self._read_at:
            self._settings = self.read_settings()
            self._read_at = self._acted()
        return self._settings.get(key, [])

    def read_settings(self) -> Dict[str, List[Setting]]:
        """The settings of all parameters, by key, read again from disk."""
        result: Dict[str, List[Setting]] = {}
        for path in _in_order(self._files):
            text = self._files.read(path, _LIMIT, follow=True).decode("utf-8", "surrogateescape")
            for one in parsed(path, text):
                result.setdefault(one.key, []).append(one)
        return result


def _in_order(files: "Files") -> List[str]:
    """Return the files in the order of systemd-sysctl and ``sysctl --system``: by name, regardless
    of their directory, with sysctl.conf at the end.
    """
    by_name: Dict[str, Tuple[str, bool]] = {}
    for above in (ETC, *BESIDE):
        directory = os.path.join(above, "sysctl.d")
        if not files.is_directory(directory):
            continue
        for name in files.entries(directory):
            if not name.endswith(".conf") or name in by_name:
                continue
            path = os.path.join(directory, name)
            status = files.status(path, follow=True)
            is_file = status is not None and status.kind == "file"
            by_name[name] = path, is_file and not _is_of_sysctl_conf(files, path)
    paths = [path for _, (path, counts) in sorted(by_name.items()) if counts]
    last = os.path.join(ETC, SYSCTL_CONF)
    status = files.status(last, follow=True)
    return [*paths, last] if status is not None and status.kind == "file" else paths


def _is_of_sysctl_conf(files: "Files", path: str) -> bool:
    """Return whether it is a link to sysctl.conf, which comes last anyway."""
    return os.path.basename(files.link(path)) == SYSCTL_CONF
