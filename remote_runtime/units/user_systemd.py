"""The units of users: their state from the user's manager, and actions on them (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Effect
from remote_runtime.errors import ResourceError
from remote_runtime.system.accounts import Identity
from remote_runtime.system.process.commands import KEEP, Result
from remote_runtime.units.boot_links import BootLinks
from remote_runtime.units.systemd import Systemd
from remote_runtime.units.unit import full_name
from remote_runtime.units.unit_files import Places
from remote_runtime.units.unit_status import ENABLE, MASK, Status

if TYPE_CHECKING:
    from remote_runtime.units.preview.planned_units import PlannedUnits

RUNTIME = "/run/user"
LINGERING = "/var/lib/systemd/linger"
_CONFIGURED = ".config/systemd/user"
_SHARED = (
    "/usr/local/share/systemd/user",
    "/usr/share/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
)
_START_TIMEOUT = 10.0  # seconds in which a manager with lingering has started
_EVERY = 0.1
_MAX_SECONDS = 60.0  # seconds for an answer
_SHORT = ("show", "is-enabled", "status", "daemon-reload")
_NOT_LOADED = {
    "LoadState": "not-found",
    "ActiveState": "inactive",
    "SubState": "dead",
    "UnitFileState": "",
    "NeedDaemonReload": "yes",
}
_BECOME = "only root can change the services of another user: set `become: true` for this host"


def split(name: str) -> Tuple[str, str]:
    """The user whose manager has a unit, "" for that of the system, and the name of the unit."""
    user, _, unit = name.rpartition("/")
    return user, unit


def configured(home: str) -> str:
    """The directory of a user's own units."""
    return os.path.join(home, _CONFIGURED)


class UserManagers(object):
    """The managers of all users in a run."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._made: Dict[str, "UserSystemd"] = {}

    def of(self, user: str) -> "UserSystemd":
        """The manager of one user."""
        if user not in self._made:
            self._made[user] = UserSystemd(self._context, user)
        return self._made[user]

    def prepare(self, names: Sequence[str]) -> None:
        """Store the plan's units, to query each manager for all its units at once."""
        by_user: Dict[str, List[str]] = {}
        for name in names:
            user, own = split(name)
            by_user.setdefault(user, []).append(own)
        for user, owns in by_user.items():
            self.of(user).prepare(owns)


class UserSystemd(Systemd):
    """systemctl, run as a user for the units of this user. See the base class."""

    scope = "--user"

    def __init__(self, context: Context, user: str) -> None:
        super().__init__(context)
        self.user = user

    def status(self, name: str) -> Status:
        """See the base class. ``ResourceError`` if the manager of the user is not running."""
        places = self._places()
        self.directories = tuple(places.searched)
        self._require_manager(name)
        status = super().status(name)
        own = "%s/%s" % (places.configured, full_name(name))
        self.context.record_read("path", own, status.found)
        return status

    def name_outside(self, full: str) -> str:
        return "%s/%s" % (self.user, full)

    def consequences(self, verb: str, name: str) -> Sequence[Effect]:
        from remote_runtime.units.preview import user_units

        return user_units.named(super().consequences(verb, name), self._places())

    def unfinished(self, verb: str, name: str, effects: Sequence[Effect]) -> Sequence[Effect]:
        """See the base class. Removes the user from the names of units, and adds it to the result
        again.
        """
        from remote_runtime.units.preview import user_units

        places = self._places()
        inside = user_units.unnamed(effects, places)
        return user_units.named(super().unfinished(verb, name, inside), places)

    def preflight(self, verb: str, name: str) -> None:
        if verb in (ENABLE, MASK):
            self._require_writable()
        super().preflight(verb, name)

    def _identity(self) -> Identity:
        return self.context.accounts.identity(self.user)

    def _places(self) -> Places:
        """The directories in which this manager finds units."""
        own = self._identity()
        runtime = "%s/%d" % (RUNTIME, own.uid)
        configuration, made = os.path.join(own.home, ".config"), runtime + "/systemd/"
        return Places(
            searched=(
                configuration + "/systemd/user.control",
                made + "user.control",
                made + "transient",
                made + "generator.early",
                configured(own.home),
                "/etc/systemd/user",
                made + "user",
                "/run/systemd/user",
                made + "generator",
                os.path.join(own.home, ".local/share/systemd/user"),
                *_SHARED,
                made + "generator.late",
            ),
            configured=configured(own.home),
            runtime=made + "user",
            generated=made + "generator",
            transient=made + "transient",
            user=self.user,
            specifiers={
                "h": own.home,
                "t": runtime,
                "u": self.user,
                "U": str(own.uid),
                "s": own.shell,
            },
        )

    def _require_manager(self, name: str) -> None:
        """Wait for a manager that lingering has just started; a preview assumes that it starts."""
        lingers, left = "%s/%s" % (LINGERING, self.user), _START_TIMEOUT
        while not self._runs():
            self._require_right(full_name(name))
            if not self.context.files.exists(lingers) or left <= 0:
                raise ResourceError(
                    "the systemd manager of %s is not running" % self.user,
                    kind="service.user",
                    hint="run `loginctl enable-linger %s` in an earlier exec resource, with "
                    "`creates: %s`" % (self.user, lingers),
                )
            if self.context.noop:
                units = self._planned_units()
                if units.files.links(units.definition(full_name(name))):
                    what = "the systemd manager of %s starts %s when it starts"
                    raise Unknowable(what % (self.user, name))
                self.context.suppose("the systemd manager of %s must start first" % self.user)
                return
            self.context.sleep(_EVERY)
            left -= _EVERY

    def _runs(self) -> bool:
        place = "%s/%d/systemd/private" % (RUNTIME, self._identity().uid)
        return self.context.files.exists(place)

    def _ask(self, names: Sequence[str]) -> None:
        if not self.context.noop or self._runs():
            super()._ask(names)
            return
        for name in names:  # the files determine the query's result
            self._units[name] = dict(_NOT_LOADED, Id=name)

    def _require_right(self, full: str) -> None:
        if os.geteuid() not in (0, self._identity().uid):
            what = "only root and %s can change %s" % (self.user, full)
            raise ResourceError(what, kind="service.failed", hint=_BECOME)

    def _require_writable(self) -> None:
        """``ResourceError`` if the user cannot create links of units."""
        from remote_runtime.overlay.permissions import Permissions

        files = self.context.files
        directory = self._places().configured
        while not files.is_directory(directory) and directory != "/":
            directory = os.path.dirname(directory)
        if not Permissions(files, self._identity()).write(directory):
            what = "%s cannot write to %s" % (self.user, directory)
            raise ResourceError(what, kind="service.failed", hint="correct its owner and mode")

    def _is_source(self, path: str) -> bool:
        return False

    def _boot_links(self) -> BootLinks:
        return BootLinks(self._places().configured)

    def _planned_units(self) -> "PlannedUnits":
        from remote_runtime.units.preview.planned_units import PlannedUnits

        return PlannedUnits(self.context, self._shown, self._names, self._places())

    def _ran(self, verb: str, *words: str, limit: int = KEEP) -> Result:
        uid = self._identity().uid
        user: Optional[str] = None if uid == os.geteuid() else self.user
        runtime = "%s/%d" % (RUNTIME, uid)
        return self.context.commands.run(
            ("systemctl", verb, self.scope, *words),
            limit=limit,
            user=user,
            timeout=_MAX_SECONDS if verb in _SHORT else None,
            env={
                "XDG_RUNTIME_DIR": runtime,
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=%s/bus" % runtime,
            },
        )
