"""Finds the files of a unit like systemd, and interprets them (target; previews only)."""

import os
from typing import TYPE_CHECKING, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from remote_runtime.units.unit import DIRECTORIES, init_script, template
from remote_runtime.units.unit_text import UnitText, escaped

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

CONFIGURED = "/etc/systemd/system"
_RUNTIME = "/run/systemd/system"
MASKED_BY = "/dev/null"
_GENERATED = "/run/systemd/generator"
_LATE = "/run/systemd/generator.late"
_TRANSIENT = "/run/systemd/transient"
_BOOT_LEVELS = ("/etc/rcS.d", "/etc/rc5.d")
_OF_SCRIPT = (
    "[Service]\nType=forking\nRemainAfterExit=yes\n"
    "ExecStart={script} start\nExecStop={script} stop\n"
)
SEARCHED = (
    ("/run/systemd/transient", "/run/systemd/generator.early")
    + DIRECTORIES[:2]
    + (_GENERATED,)
    + DIRECTORIES[2:]
    + ("/run/systemd/generator.late",)
)
_LIMIT = 1 << 20  # bytes of a unit file
_TYPES = ("simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle")
LINKED_FROM = {"WantedBy": ".wants", "RequiredBy": ".requires", "UpheldBy": ".upholds"}
_PULLING = {".wants": "Wants", ".requires": "Requires", ".upholds": "Upholds"}
ALIAS = "Alias"
_SAYS = {  # what systemd asks one of
    "timer": (
        "OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec",
        "OnCalendar", "OnClockChange", "OnTimezoneChange",
    ),
    "path": ("PathExists", "PathExistsGlob", "PathChanged", "PathModified", "DirectoryNotEmpty"),
    "socket": (
        "ListenStream", "ListenDatagram", "ListenSequentialPacket", "ListenFIFO", "ListenSpecial",
        "ListenNetlink", "ListenMessageQueue", "ListenUSBFunction",
    ),
}  # fmt: skip
_RULES = (*LINKED_FROM, ALIAS)


class Places(NamedTuple):
    """The directories in which a manager finds its units: ``searched`` in this order,
    ``configured`` for the host's own units, and ``runtime`` for the same until the next boot.

    ``user`` is the user of the manager, "" for that of the system, and ``specifiers`` has the
    values of ``%h`` and similar specifiers.
    """

    searched: Sequence[str] = SEARCHED
    configured: str = CONFIGURED
    runtime: str = _RUNTIME
    generated: str = _GENERATED
    transient: str = _TRANSIENT
    user: str = ""
    specifiers: Mapping[str, str] = {}

    def full(self, name: str) -> str:
        """The name of a unit in effects: for a user's unit, it begins with the user."""
        return "%s/%s" % (self.user, name) if self.user else name


SYSTEM = Places()


class Definition(NamedTuple):
    """A unit as defined by its files; ``name`` is its own name, even if it was found by
    an alias.
    """

    name: str
    path: str
    text: UnitText
    masked: bool
    places: Places = SYSTEM

    @property
    def kind(self) -> str:
        """The type of a service, or the default if none is set."""
        type_name = self.text.last("Service", "Type")
        if type_name in _TYPES:
            return type_name
        if self.text.last("Service", "BusName"):
            return "dbus"
        return "simple" if self.text.all("Service", "ExecStart") else "oneshot"

    @property
    def refused(self) -> bool:
        """Whether systemd would refuse to load it: a service without a command, a oneshot that
        would never end, a mount without a source or at a path that does not match its name, or
        another unit without its main setting.
        """
        if self.masked:
            return False
        if self.name.endswith((".mount", ".automount")):
            return self._is_misplaced()
        suffix = self.name.rpartition(".")[2]
        if suffix != "service":
            return suffix in _SAYS and not any(
                self.text.all(suffix.capitalize(), key) for key in _SAYS[suffix]
            )
        if self.text.misnames:
            return True
        starts = len(self.text.programs("ExecStart"))
        if self.kind != "oneshot":
            return starts != 1 or (self.kind == "dbus" and not self.text.last("Service", "BusName"))
        if self.text.last("Service", "Restart") in ("always", "on-success"):
            return True
        idle = self.text.all("Service", "ExecStop") or self.text.last("Unit", "SuccessAction")
        return not starts and not (idle and self.text.flag("Service", "RemainAfterExit"))

    @property
    def reloads(self) -> bool:
        """Whether systemd can make it reload its configuration."""
        commands = bool(self.text.all("Service", "ExecReload"))
        return commands or self.kind == "notify-reload" or self.name.endswith(".mount")

    def _is_misplaced(self) -> bool:
        """Return whether it mounts nothing, or at a path that does not match its name."""
        stem, _, suffix = self.name.rpartition(".")
        where = self.text.expand(self.text.last(suffix.capitalize(), "Where")) or ""
        if suffix == "mount" and not self.text.last("Mount", "What"):
            return True
        return where != "" and escaped(where) != stem


class UnitFiles(object):
    """Unit files read through ``files``, from the host or as planned.

    ``directories`` are the existing ones of ``places``.
    """

    def __init__(self, files: "Files", directories: Sequence[str], places: Places = SYSTEM) -> None:
        self._files, self._places = files, places
        self._names = {directory: set(self._held(directory)) for directory in directories}
        self._directories = [each for each in places.searched if each in self._names]

    def find(self, name: str) -> "Definition":
        """The definition to which a name leads; without a path if there is none."""
        own, path, masked = self._file(name)
        text = UnitText(own, self._places.specifiers)
        script = self._script(own) if not path or path.startswith(_LATE) else ""
        if script and self._is_script(script):
            path = "%s/%s" % (_LATE, own)
            text.add(_OF_SCRIPT.format(script=script))
        elif script and path:
            return Definition(own, "", text, masked=False, places=self._places)
        elif path and not masked:
            text.add(self._read(path))
            for drop_in in self._drop_ins(own):
                text.add(self._read(drop_in))
            for key, other in self._pulled_by_links(own):
                text.add("[Unit]\n%s=%s\n" % (key, other))
        return Definition(own, path, text, masked=masked, places=self._places)

    def _script(self, name: str) -> str:
        """The init script from which a service would be generated; users have none."""
        return "" if self._places.user else init_script(name)

    def _is_script(self, path: str) -> bool:
        """Return whether systemd generates a service from an init script, which must
        be executable.
        """
        status = self._files.status(path, follow=True)
        return status is not None and status.kind == "file" and bool(status.mode & 0o100)

    def aliased(self, name: str) -> str:
        """Return the unit whose ``[Install]`` has a name as an alias, "" for none."""
        for directory in self._directories:
            for other in sorted(self._names[directory]):
                if other.rpartition(".")[2] != name.rpartition(".")[2] or "@" in other:
                    continue
                unit = self.find(other)
                if unit.name == other and name in unit.text.words("Install", ALIAS):
                    return other
        return ""

    def _pulled_by_links(self, own: str) -> Iterator[Tuple[str, str]]:
        """Yield the units that links in the unit's directories, such as ``own.wants``, start with
        it."""
        names = [name for name in (own, template(own)) if name]
        for entry, key in [(name + end, key) for name in names for end, key in _PULLING.items()]:
            for directory in self._directories:
                below = "%s/%s" % (directory, entry)
                if entry in self._names[directory]:
                    yield from [(key, other) for other in sorted(self._held(below))]

    def _held(self, directory: str) -> List[str]:
        """Return the names in a directory, or in the target of a link; systemd ignores others."""
        return self._files.entries(directory + "/.") if self._files.is_directory(directory) else []

    def _file(self, name: str) -> Tuple[str, str, bool]:
        """The unit's own name, its file, and whether the file is a mask."""
        for _ in range(8):  # aliases of aliases
            path = self._first(name) or self._first(template(name))
            if not path:
                return name, "", False
            link = self._files.link(path)
            if link == MASKED_BY:
                return name, path, True
            target = os.path.normpath(os.path.join(os.path.dirname(path), link))
            inside = os.path.dirname(target) in self._places.searched  # else the name is the link's
            alias = _instance(os.path.basename(link), name) if link and inside else name
            leads = alias != name and "." in alias
            if not (leads and self._places.user):  # a link of theirs is not followed
                behind = self._files.status(path, follow=True)
                if behind is not None and not (behind.size or self._read(path)):
                    return name, path, True  # also what leads to /dev/null
                if not leads:
                    return (name, path, False) if behind is not None else (name, "", False)
            name = alias
        return name, "", False

    def _first(self, name: str) -> str:
        there = (f for f in self._directories if name in self._names[f])
        return next(("%s/%s" % (directory, name) for directory in there), "")

    def _read(self, path: str) -> str:
        status = self._files.status(path, follow=True)
        if status is None or status.kind != "file":
            return ""  # a mask
        return self._files.read(path, _LIMIT, follow=True).decode("utf-8", "replace")

    def _drop_ins(self, name: str) -> List[str]:
        result: Dict[str, str] = {}
        for below in self._drop_in_directories(name):
            for entry in self._held(below):
                if entry.endswith(".conf"):
                    result.setdefault(entry, "%s/%s" % (below, entry))
        return [result[entry] for entry in sorted(result)]

    def _drop_in_directories(self, name: str) -> List[str]:
        """Return the directories with drop-ins for a unit; if two files have the same name, the
        earlier one is used.
        """
        names = [n + ".d" for n in _drop_in_names(name)]
        kind = name.rpartition(".")[2] + ".d"
        own = ["%s/%s" % (f, n) for f in self._directories for n in names if n in self._names[f]]
        return own + ["%s/%s" % (f, kind) for f in self._directories if kind in self._names[f]]

    def file_state(self, unit: Definition) -> str:
        """Return systemd's name for the state of the unit's file."""
        if unit.masked:
            return "masked-runtime" if unit.path.startswith("/run/") else "masked"
        if is_generated(unit):
            script = self._script(unit.name)
            if not (unit.path.startswith(_LATE) and script and self._is_script(script)):
                return "generated"
            return "enabled" if self._is_started_at_boot(unit.name) else "disabled"
        if is_transient(unit):
            return "transient"
        link = self._files.link(unit.path)
        if link and os.path.basename(link) != os.path.basename(unit.path):
            return "alias"
        if self.links(unit):
            return "enabled"
        if self.links(unit, self._places.runtime):
            return "enabled-runtime"
        if link and os.path.dirname(unit.path) == self._places.configured:
            return "linked"
        if any(unit.text.all("Install", rule) for rule in _RULES):
            return "disabled"
        return "indirect" if unit.text.all("Install", "Also") else "static"

    def _is_started_at_boot(self, name: str) -> bool:
        """Return whether a link of the old runlevels starts an init script at boot."""
        stem = name.rpartition(".")[0]
        names = (n for directory in _BOOT_LEVELS for n in self._held(directory))
        return any(n[:1] == "S" and n[3:] == stem for n in names)

    def elsewhere(self, unit: Definition) -> bool:
        """Return whether its file is outside the unit directories, which only contain a link to it;
        disabling removes that link.
        """
        target = self._files.link(unit.path) if unit.path else ""
        return target.startswith("/") and os.path.dirname(target) not in self._places.searched

    def masks(self, name: str) -> List[str]:
        """The masks of a unit that can be removed."""
        directories = (self._places.configured, self._places.runtime)
        paths = ["%s/%s" % (directory, name) for directory in directories]
        return [path for path in paths if self._files.link(path) == MASKED_BY]

    def links(self, unit: Definition, directory: str = "") -> List[str]:
        """The links that start the unit; without a directory, those in ``configured``."""
        result = []
        directory = directory or self._places.configured
        for entry in sorted(self._names.get(directory, ())):
            below = "%s/%s" % (directory, entry)
            if entry.endswith(tuple(LINKED_FROM.values())):
                result += ["%s/%s" % (below, unit.name)] if unit.name in self._held(below) else []
            elif entry in unit.text.words("Install", "Alias"):
                result += [below] if os.path.basename(self._files.link(below)) == unit.name else []
        return result

    def shown(self, unit: Definition) -> Dict[str, str]:
        """Return the output of ``systemctl show`` after it is loaded."""
        if not unit.path:
            return {"Id": unit.name, "LoadState": "not-found", "UnitFileState": ""}
        properties = {
            "Id": unit.name,
            "LoadState": "loaded",
            "UnitFileState": self.file_state(unit),
        }
        if unit.masked:
            properties["LoadState"] = "masked"
        elif unit.refused:
            properties["LoadState"] = "bad-setting"
            properties["LoadError"] = '"Unit %s has a bad unit file setting."' % unit.name
        elif unit.name.endswith(".service"):
            properties["Type"] = unit.kind
            remains = unit.text.flag("Service", "RemainAfterExit")
            properties["RemainAfterExit"] = "yes" if remains else "no"
        properties["CanReload"] = "yes" if unit.reloads else "no"
        return properties


def is_transient(unit: Definition) -> bool:
    """Return whether its file disappears when it stops."""
    return unit.path.startswith(unit.places.transient)


def is_generated(unit: Definition) -> bool:
    """Return whether systemd generates its file when it reloads."""
    return unit.path.startswith(unit.places.generated)


def install_links(unit: Definition) -> List[str]:
    """The links to the unit that enabling it creates."""
    return [link for rule in _RULES for link in links_of(unit, rule)]


def links_of(unit: Definition, rule: str) -> List[str]:
    """Return the links for one setting in its ``[Install]`` section."""
    others, configured = unit.text.words("Install", rule), unit.places.configured
    if rule == ALIAS:
        return ["%s/%s" % (configured, alias) for alias in others]
    return ["%s/%s%s/%s" % (configured, o, LINKED_FROM[rule], unit.name) for o in others]


def _instance(target: str, name: str) -> str:
    """The alias that a link to ``target`` means for ``name``; for a template, its instance."""
    prefix, at, suffix = target.partition("@.")
    instance = name.partition("@")[2].rpartition(".")[0]
    return "%s@%s.%s" % (prefix, instance, suffix) if at and instance else target


def _drop_in_names(name: str) -> List[str]:
    """The names whose drop-ins apply to a unit, the unit's own name first."""
    whole, _, suffix = name.rpartition(".")
    names = [name]
    prefix = whole.partition("@")[0]
    if template(name):
        names.append(template(name))
    while "-" in prefix.rstrip("-"):
        prefix = prefix.rstrip("-").rpartition("-")[0] + "-"
        names.append("%s.%s" % (prefix, suffix))
    return names
