"""Users, on a host with a small shadow suite: one file each of users, passwords and groups."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from remote_runtime.system import account_files
from tests.contract.scenario import PASSWORD, Scenario
from tests.contract.world import World

ON_A_HOST = True

NAME = "anna"
GROUPS = "staff:x:50:\nteam:x:4100:\nold:x:4200:\n"
OWN = os.getuid()

OPTIONS = """\
while getopts MrLUau:g:d:s:c:G:e: o; do
    case $o in [MrLUa]) OPTARG=x ;; esac
    export "o_$o=$OPTARG"
done
shift $((OPTIND - 1))
"""
FUNCTIONS = """\
join() {
    awk -F: -v OFS=: -v u="$1" -v all=",$2," -v keep="$3" '{
        n = split($4, m, ","); $4 = ""
        for (i = 1; i <= n; i++) if (m[i] != u || keep) $4 = $4 (length($4) ? "," : "") m[i]
        if (index(all, "," $1 ",")) $4 = $4 (length($4) ? "," : "") u
        print }' group > group.new; cat group.new > group; rm group.new
}
field() {
    awk -F: -v OFS=: -v n="$2" -v p="$3" -v v="$4" '$1 == n { $p = v } { print }' "$1" > f.new
    cat f.new > "$1"; rm f.new
}
"""
USERADD = """\
echo "$1:x:$o_u:$o_g:$o_c:$o_d:$o_s" >> passwd
echo "$1:!:20000:0:99999:7::$o_e:" >> shadow
join "$1" "$o_G" keep
"""
USERMOD = """\
[ -z "$o_u" ] || field passwd "$1" 3 "$o_u"
[ -z "$o_g" ] || field passwd "$1" 4 "$(grep "^$o_g:" group | cut -d: -f3)"
[ -z "${o_c+x}" ] || field passwd "$1" 5 "$o_c"
[ -z "$o_d" ] || field passwd "$1" 6 "$o_d"
[ -z "$o_s" ] || field passwd "$1" 7 "$o_s"
[ -z "${o_G+x}" ] || join "$1" "$o_G" "$o_a"
[ -z "${o_e+x}" ] || field shadow "$1" 8 "$o_e"
old=$(grep "^$1:" shadow | cut -d: -f2)
[ -z "$o_L" ] || field shadow "$1" 2 "!$old"
[ -z "$o_U" ] || field shadow "$1" 2 "${old#!}"
"""
USERDEL = 'sed -i "/^$1:/d" passwd shadow\njoin "$1" ""\n'
CHPASSWD = 'IFS=: read -r name hash\nfield shadow "$name" 2 "$hash"\n'
GETENT = 'grep "^$2:" "$1" || exit 2\n'
ID = """\
gid=$(grep "^$2:" passwd | cut -d: -f4)
primary=$(awk -F: -v g="$gid" '$3 == g { print $1 }' group)
others=$(awk -F: -v u="$2" '("," $4 ",") ~ ("," u ",") { print $1 }' group)
case $1 in -gn) echo $primary ;; -g) echo $gid ;; *) echo $primary $others ;; esac
"""


class Tables:
    """The files of a host whose programs and databases are of this directory."""

    def __init__(self, world: World, passwd: str = "", shadow: str = "") -> None:
        for name, script in (("useradd", USERADD), ("usermod", USERMOD), ("userdel", USERDEL)):
            world.program(name, OPTIONS + FUNCTIONS + script)
        world.program("chpasswd", FUNCTIONS + CHPASSWD)
        world.program("getent", GETENT)
        world.program("id", ID)
        for name in ("groupadd", "groupdel", "groupmod"):
            world.program(name, "exit 70\n")  # nothing of this machine
        self.passwd = Path(world.write("passwd", passwd))
        self.shadow = Path(world.write("shadow", shadow))
        self.group = Path(world.write("group", GROUPS))
        world.write("defs", "")
        for target, new in (
            ("grp.getgrnam", self._find(self.group, 0)),
            ("grp.getgrgid", self._find(self.group, 2)),
            ("pwd.getpwnam", self._find(self.passwd, 0)),
            ("os.geteuid", lambda: 0),
        ):
            world.later.enter_context(mock.patch(target, new))
        world.later.enter_context(mock.patch.object(account_files, "ETC", str(world.root)))
        idle = "remote_runtime.host.machine.accounts.processes"
        world.later.enter_context(mock.patch(idle, return_value=[]))

    @staticmethod
    def _find(path: Path, place: int) -> Callable[[Any], list[Any]]:
        def entry(key: Any) -> list[Any]:
            for line in path.read_text().splitlines():
                fields = line.split(":")
                if fields[place] == str(key):
                    return [int(field) if field.isdigit() else field for field in fields]
            raise KeyError(key)

        return entry

    def put(self, path: Path, old: str, new: str) -> Callable[[], object]:
        """What replaces a text of a file, which has to be there."""

        def change() -> None:
            text = path.read_text()
            assert old in text, text
            path.write_text(text.replace(old, new))

        return change

    def forget(self) -> None:
        """Remove the user with all that is kept of it."""
        self.passwd.write_text("")
        self.shadow.write_text("")
        self.group.write_text(GROUPS)


def present(world: World) -> Scenario:
    """A user that is missing, with a home directory."""
    tables = Tables(world)
    home, shell = world.path("home"), "/bin/sh"
    properties = {
        "uid": OWN,
        "group": "staff",
        "groups": ["team"],
        "comment": "Anna",
        "home": home,
        "shell": shell,
        "password": PASSWORD,
        "locked": False,
        "expires": "2030-12-31",
        "create_home": True,  # as this may be root
        "force": True,  # as this may be the user who runs the tests
    }
    breaks = {
        "ensure": tables.forget,
        "uid": tables.put(tables.passwd, f":x:{OWN}:", ":x:4711:"),
        "group": tables.put(tables.passwd, ":50:", ":4200:"),
        "groups": tables.put(tables.group, "old:x:4200:", f"old:x:4200:{NAME}"),
        "comment": tables.put(tables.passwd, ":Anna:", ":Bob:"),
        "home": tables.put(tables.passwd, f":{home}:", ":/nowhere:"),
        "shell": tables.put(tables.passwd, f":{shell}", ":/bin/false"),
        "password": tables.put(tables.shadow, f":{PASSWORD}:", ":another:"),
        "locked": tables.put(tables.shadow, f":{PASSWORD}:", f":!{PASSWORD}:"),
        "expires": tables.put(tables.shadow, ":22279:", ":22280:"),
        "create_home": lambda: world.remove("home"),
    }
    return Scenario(NAME, properties, breaks)


def joined(world: World) -> Scenario:
    """A user that keeps its other groups."""
    tables = Tables(world, f"{NAME}:x:{OWN}:50::/:/bin/sh\n", f"{NAME}:!:20000:0:99999:7:::\n")
    tables.group.write_text(GROUPS.replace("old:x:4200:", f"old:x:4200:{NAME}"))
    leave = tables.put(tables.group, f"team:x:4100:{NAME}", "team:x:4100:")
    own = {"group": "staff", "home": world.path("home"), "create_home": False, "force": True}
    properties = {**own, "groups": ["team"], "append": True}
    return Scenario(NAME, properties, {"ensure": tables.forget, "groups": leave})


def absent(world: World) -> Scenario:
    """A user that has to go, with its home directory."""
    home = world.path("home")
    world.write("home/kept", "x")
    line = f"{NAME}:x:{OWN}:50::{home}:/bin/sh\n"
    tables = Tables(world, line, f"{NAME}:!:20000:0:99999:7:::\n")
    properties = {"ensure": "absent", "remove_home": True, "force": True}
    return Scenario(NAME, properties, {"ensure": lambda: tables.passwd.write_text(line)})


SCENARIOS = (present, joined, absent)
