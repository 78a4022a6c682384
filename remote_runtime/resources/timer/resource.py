"""The timer type: a systemd timer and the service with its job (target; ``check`` on
both sides).
"""

import re
from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import refuse
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.timer import schedules, unit_files
from remote_runtime.units import managed_unit_files, unit

STAMPS = "/var/lib/systemd/timers"
"""The directory where systemd stores the last run of a persistent timer."""

_MODE = 0o644
_MAX_LENGTH = 247  # characters, without the suffix
_SUFFIX = re.compile(
    r"\.(service|socket|target|timer|path|mount|automount|swap|slice|scope|device)\Z"
)
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\r\n\0]*\Z")
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f]")
_MASK = "/dev/null"


class Resource(StateType):
    """One timer and its job."""

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """See the base class. Finds names, texts and times that systemd would refuse or read
        differently.
        """
        wrong: List[Tuple[str, str]] = []
        suffix = _SUFFIX.search(name)
        if suffix:
            wrong.append(("name", "write it without %s" % suffix.group()))
        if len(name) > _MAX_LENGTH:
            wrong.append(("name", "a timer has at most %d characters" % _MAX_LENGTH))
        if properties.get("ensure") == "absent":
            return wrong
        command = str(properties.get("command") or "")
        if "command" in properties and not command.strip():
            wrong.append(("command", "the command is empty"))
        if _CONTROL.search(command):
            wrong.append(("command", "it has a control character; put it into a script"))
        description = str(properties.get("description") or "")
        if _CONTROL.search(description.replace("\n", "\0")) or description.endswith("\\"):
            wrong.append(("description", "it must be one line that does not end in a backslash"))
        for line in properties.get("environment") or ():
            if not _SETTING.match(str(line)):
                wrong.append(("environment", "each entry must be NAME=value, on one line"))
                break
        wrong += schedules.problems(properties) + unit_files.problems(properties.get("settings"))
        return wrong + _unstarted(properties)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        there = properties.get("ensure") != "absent"
        return [(_path(name + suffix), there) for suffix in (".timer", ".service")]

    @property
    def _unit(self) -> str:
        return self.name + ".timer"

    @property
    def _timer_path(self) -> str:
        return _path(self._unit)

    @property
    def _service_path(self) -> str:
        return _path(self.name + ".service")

    @property
    def _link(self) -> str:
        """The link that starts the timer at boot."""
        return _path("timers.target.wants/" + self._unit)

    # -- reading ----------------------------------------------------------------------------------

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Reads both unit files and the state of the timer. Refuses a service
        that does not belong to it.
        """
        timer = self._file(host, self._timer_path)
        service = self._own_service(host, timer is not None)
        if service is None or not unit_files.is_marked(service.data, self.name):
            self._require_free(host)
        if service is not None:
            host.units.status(self.name + ".service")  # a run that was cut off read no new file
        status = host.units.status(self._unit)
        if status.masked:
            raise self._masked(self._unit)
        gone = timer is None and service is None and not status.running
        if gone and host.files.lstat(self._link) is None:
            return None
        return {
            "timer_file": timer,
            "service_file": service,
            "enabled": bool(status.enabled) and not status.until_reboot,
            "active": status.running,
        }

    def _file(self, host: HostReader, path: str) -> Optional[FileText]:
        node = host.files.lstat(path)
        if node is None:
            return None
        if node.kind == "symlink" and node.target == _MASK:
            raise self._masked(path.rpartition("/")[2])
        if node.kind != "file":
            refuse(path, node)
        return FileText(host.files.read(path), node.mode, path)

    def _own_service(self, host: HostReader, has_timer: bool) -> Optional[FileText]:
        """The service that the timer next to it starts, or that ccm wrote; another one does not
        belong to us, so a timer cannot have its name.
        """
        service = self._file(host, self._service_path)
        if service is None or has_timer or unit_files.is_marked(service.data, self.name):
            return service
        if self.ensure == "absent":
            return None
        raise ResourceError(
            "%s is a service that has no timer" % self._service_path,
            kind="resource.timer.name",
            hint="choose another name for the timer; the service was not changed",
        )

    def _require_free(self, host: HostReader) -> None:
        """``ResourceError`` if the system has units of this name, which would be replaced."""
        suffixes = (".timer",) if self.ensure == "absent" else (".timer", ".service")
        paths = [
            "%s/%s%s" % (directory, self.name, suffix)
            for directory in unit.DIRECTORIES
            if directory != managed_unit_files.DIRECTORY
            for suffix in suffixes
        ]
        if self.ensure != "absent":
            paths.append("%s/%s" % (unit.INIT_SCRIPTS, self.name))
        for path in paths:
            if host.files.lstat(path) is not None:
                raise ResourceError(
                    "the system already has a unit %s" % path,
                    kind="resource.timer.name",
                    hint="choose another name, or change the unit with a `service` resource",
                )

    @staticmethod
    def _masked(name: str) -> ResourceError:
        hint = "run `systemctl unmask %s` on the host, or set `masked: false` in a service resource"
        return ResourceError("%s is masked" % name, kind="service.masked", hint=hint % name)

    def desired(self) -> Mapping[str, Any]:
        """See the base class. Both unit files, and a timer that is enabled and active."""
        timer = unit_files.timer_text(self.name, self.properties)
        service = unit_files.service_text(self.name, self.properties)
        return {
            "timer_file": FileText(_encoded(timer), _MODE, self._timer_path),
            "service_file": FileText(_encoded(service), _MODE, self._service_path),
            "enabled": True,
            "active": True,
        }

    # -- acting -----------------------------------------------------------------------------------

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. systemd checks the times before a file is written. A changed timer is
        restarted.
        """
        host.accounts.require_user(str(self.properties.get("user") or "root"))
        again = "timer_file" in diff
        if again:
            host.units.require_calendar(schedules.expressions(self.properties))
            self._halt(host, diff.found or {})
        for key in ("service_file", "timer_file"):
            if key in diff:
                file, old = diff.desired[key], (diff.found or {}).get(key)
                mode = _MODE if old is None else managed_unit_files.mode_after(old.mode)
                host.files.write(file.path, file.data, mode=mode, uid=0, gid=0)
        if again or "enabled" in diff:
            host.units.enable(self._unit)
        if again or "active" in diff:
            host.units.start(self._unit)

    def _halt(self, host: Host, state: Mapping[str, Any]) -> None:
        """Make systemd forget when the timer last elapsed; otherwise, it would start the job
        immediately if the new schedule had a time between then and now.
        """
        if state.get("active"):
            host.units.stop(self._unit)
        if state.get("timer_file") is not None and state.get("enabled"):
            host.units.disable(self._unit)

    def remove(self, host: Host) -> None:
        """See the base class. Stops and disables the timer; its file is removed last, because it
        marks the service's owner.
        """
        status = host.units.status(self._unit)
        has_timer = host.files.lstat(self._timer_path) is not None
        service = self._own_service(host, has_timer)
        if status.running:
            host.units.stop(self._unit)
        if has_timer and status.enabled:
            host.units.disable(self._unit)
        for path in (self._link, self._stamp):
            if host.files.lstat(path) is not None:
                host.files.unlink(path)
        if service is not None:
            host.files.unlink(self._service_path, kind="file")
        host.files.unlink(self._timer_path, kind="file")  # last: it says whose the service is

    @property
    def _stamp(self) -> str:
        return "%s/stamp-%s" % (STAMPS, self._unit)


def _path(name: str) -> str:
    return "%s/%s" % (managed_unit_files.DIRECTORY, name)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _unstarted(properties: Properties) -> List[Tuple[str, str]]:
    """Return settings that prevent the job from ever running, or a property from having an
    effect."""
    time_keys = [
        key for key in schedules.SPANS + schedules.BEGINNINGS if properties.get(key) is not None
    ]
    settings = properties.get("settings")
    more = settings.get("Timer") if isinstance(settings, dict) else settings
    if isinstance(more, str) or (isinstance(more, dict) and any(k.startswith("On") for k in more)):
        return []
    wrong = []
    if not set(time_keys) & set(schedules.BEGINNINGS):
        after = [key for key in time_keys if key.startswith("on_unit_")]
        if after:
            text = (
                "it counts from a run, and nothing starts the first one: add on_boot or on_active"
            )
            wrong.append((after[0], text))
        elif properties.get("command") is not None:
            wrong.append(("", "set schedule, on_boot or on_active"))
    if properties.get("persistent") and properties.get("schedule") is None:
        wrong.append(("persistent", "it has an effect only with schedule"))
    return wrong
