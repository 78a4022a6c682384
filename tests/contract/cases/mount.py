"""Mounts, on a host whose table and whose mounts are files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

from remote_runtime.system.kernel import mounts
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

ROOT = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
FUNCTIONS = """\
while getopts t:o: o; do export "o_$o=$OPTARG"; done
shift $((OPTIND - 1))
case $o_o in *ro*) flags=ro ;; *) flags=rw ;; esac
case $o_o in *nodev*) flags=$flags,nodev ;; esac
"""
MOUNT = (
    FUNCTIONS
    + """\
case $o_o in
remount*) sed -i "s|\\( $2 \\)[a-z,]* |\\1$flags |" proc/self/mountinfo ;;
*) echo "9 1 0:7 / $2 $flags - ${o_t:-ext4} $1 rw" >> proc/self/mountinfo ;;
esac
"""
)
UMOUNT = 'sed -i "\\\\| $1 |d" proc/self/mountinfo\n'
SWAPON = """\
case $1 in --show*) tail -n +2 proc/swaps | cut -d" " -f1; exit ;; esac
[ "$1" != -o ] || shift 2
echo "$1 file 1 0 -2" >> proc/swaps
"""
SWAPOFF = 'sed -i "\\\\|^$1 |d" proc/swaps\n'
FINDMNT = """\
case $* in *--fstab*) awk '!/^#/ && NF > 1 {
    printf "%s{\\"source\\": \\"%s\\", \\"target\\": \\"%s\\", \\"fstype\\": \\"%s\\"," \\
        "\\"options\\": \\"%s\\", \\"freq\\": \\"%s\\", \\"passno\\": \\"%s\\"}", \\
        (n++ ? "," : "{\\"filesystems\\": ["), $1, $2, $3, $4, $5 + 0, $6 + 0
} END { if (n) print "]}" }' etc/fstab ;;
*) awk '{ printf "%s{\\"source\\": \\"%s\\", \\"target\\": \\"%s\\", \\"fstype\\": \\"%s\\"," \\
        "\\"options\\": \\"%s\\"}", (n++ ? "," : "{\\"filesystems\\": ["), $9, $5, $8, $6
} END { if (n) print "]}" }' proc/self/mountinfo ;;
esac
"""


class Table:
    """The files of such a host."""

    def __init__(self, world: World, entries: str = "", mounted: str = "") -> None:
        for name, script in (
            ("mount", MOUNT),
            ("umount", UMOUNT),
            ("swapon", SWAPON),
            ("swapoff", SWAPOFF),
            ("findmnt", FINDMNT),
        ):
            world.program(name, script)
        self.point = world.path("srv/point")
        self.fstab = Path(
            world.write("etc/fstab", f"# kept\n/dev/sda1 / ext4 defaults 0 1\n{entries}")
        )
        self.mounted = Path(world.write("proc/self/mountinfo", ROOT + mounted))
        self.swaps = Path(world.write("proc/swaps", "Filename Type Size Used Priority\n"))
        world.write("srv/device", "")
        for target, value in (("ETC", world.path("etc")), ("PROC", world.path("proc"))):
            world.later.enter_context(mock.patch.object(mounts, target, value))
        world.later.enter_context(mock.patch.object(mounts, "LOADED", world.path("nowhere")))
        world.later.enter_context(mock.patch.object(mounts, "users", return_value=[]))
        world.later.enter_context(mock.patch("os.geteuid", return_value=0))

    def put(self, path: Path, old: str, new: str) -> Callable[[], object]:
        """What replaces a text of a file, which has to be there."""

        def change() -> None:
            text = path.read_text()
            assert old in text, text
            path.write_text(text.replace(old, new))

        return change


def mounted(world: World) -> Scenario:
    """A file system in memory that is neither in the table nor mounted."""
    table = Table(world)
    properties = {
        "device": SECRET,
        "type": "tmpfs",
        "options": "nodev,ro",
        "nofail": True,
        "dump": 1,
        "pass": 2,
    }
    line = f"{SECRET}\t{table.point}\ttmpfs\tnodev,ro,nofail\t1\t2\n"
    breaks: dict[str, Callable[[], object]] = {
        "device": table.put(table.fstab, f"{SECRET}\t", "other\t"),
        "type": table.put(table.fstab, "tmpfs", "ramfs"),
        "options": table.put(table.fstab, "nodev,ro", "nodev"),
        "nofail": table.put(table.fstab, ",nofail", ""),
        "dump": table.put(table.fstab, "\t1\t2", "\t0\t2"),
        "pass": table.put(table.fstab, "\t1\t2", "\t1\t0"),
        "mounted": lambda: table.mounted.write_text(ROOT),
        "active_options": table.put(table.mounted, "ro,nodev", "rw"),
        "device:entry": table.put(table.fstab, line, ""),
    }
    return Scenario(table.point, properties, breaks)


def present(world: World) -> Scenario:
    """An entry with other options, and nothing mounted."""
    point = world.path("srv/point")
    table = Table(world, f"LABEL=x  {point}  ext4  defaults  0  2\n")
    again = table.put(table.fstab, "noatime", "atime")
    properties = {"ensure": "present", "device": "LABEL=x", "options": "noatime"}
    device = table.put(table.fstab, "LABEL=x", "LABEL=y")
    return Scenario(point, properties, {"options": again, "device": device})


def unmounted(world: World) -> Scenario:
    """Something that is mounted, and whose entry stays."""
    point = world.path("srv/point")
    line = f"7 1 0:7 / {point} rw - tmpfs x rw\n"
    table = Table(world, f"x {point} tmpfs defaults 0 0\n", line)
    again = partial(table.mounted.write_text, ROOT + line)
    return Scenario(point, {"ensure": "unmounted"}, {"mounted": again})


def absent(world: World) -> Scenario:
    """Something that is mounted and in the table."""
    point = world.path("srv/point")
    line, entry = f"7 1 0:7 / {point} rw - tmpfs x rw\n", f"x {point} tmpfs defaults 0 0\n"
    table = Table(world, entry, line)
    breaks: dict[str, Callable[[], object]] = {
        "entry": lambda: table.fstab.write_text(entry),
        "mounted": lambda: table.mounted.write_text(ROOT + line),
    }
    return Scenario(point, {"ensure": "absent"}, breaks)


def swap(world: World) -> Scenario:
    """A file for swap."""
    table = Table(world)
    device = world.path("srv/device")
    breaks: dict[str, Callable[[], object]] = {
        "mounted": lambda: table.swaps.write_text("Filename Type Size Used Priority\n"),
        "type": table.put(table.fstab, device, "/elsewhere"),
        "options": table.put(table.fstab, "pri=5", "pri=6"),
    }
    return Scenario(device, {"type": "swap", "options": "sw,pri=5"}, breaks)


SCENARIOS = (mounted, present, unmounted, absent, swap)
