"""Jobs in a directory that stands for cron.d, and in crontabs that are files."""

import os
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from orchestrator.verify.checks import cron as checks
from remote_runtime.resources.cron import resource
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import OWNER

ON_A_HOST = True

CRONTAB = """\
[ "$1" != -u ] || shift 2
own=spool/OWNER
case "$1" in
    -l) [ -e $own ] && cat $own || { echo "no crontab for OWNER" >&2; exit 1; } ;;
    -) cat > $own ;;
esac
"""


def _directory(world: World) -> Path:
    path = Path(world.path("cron.d"))
    path.mkdir()
    for module in (resource, checks):
        world.later.enter_context(mock.patch.object(module, "DIRECTORY", str(path)))
    world.later.enter_context(mock.patch.object(resource, "DAEMONS", ("sh",)))
    return path


def _crontab(world: World) -> Path:
    world.program("crontab", CRONTAB.replace("OWNER", OWNER))
    spool = Path(world.path("spool"))
    spool.mkdir()
    world.later.enter_context(mock.patch.object(checks, "SPOOLS", (str(spool),)))
    world.later.enter_context(mock.patch.object(resource, "INSTALLERS", ("sh",)))
    program = "remote_runtime.host.preview.crontabs.Crontabs._require_program"
    world.later.enter_context(mock.patch(program))  # this machine may have no cron
    return spool / OWNER


def _changed(path: Path, old: str, new: str) -> Callable[[], object]:
    def change() -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def present(world: World) -> Scenario:
    """A job that is missing, with a percent sign and a setting."""
    file = _directory(world) / "of-the-night"
    job = {"schedule": "*/5  1-3 * jan Mon", "command": f"date +%F # {SECRET}", "user": OWNER}
    breaks = {
        "job": lambda: os.remove(file),
        "job:another": _changed(file, "1-3", "1-4"),
        "environment": _changed(file, "MAILTO=ops", "MAILTO=root"),
        "attributes": lambda: file.chmod(0o664),
    }
    properties = {**job, "environment": ["MAILTO=ops"]}
    return Scenario("of the night", properties, breaks)


def fields(world: World) -> Scenario:
    """A job by separate fields, in place of another one."""
    file = _directory(world) / "backup"
    file.write_text(f"@daily root true {SECRET}\n")
    properties = {"minute": 30, "hour": "1,13", "command": f"echo {SECRET}"}
    breaks = {"job": _changed(file, "30 1,13", "31 1,13"), "attributes": lambda: file.chmod(0o600)}
    return Scenario("backup", properties, breaks)


def own(world: World) -> Scenario:
    """A job in a crontab that has others."""
    path = _crontab(world)
    path.write_text('# mine\nMAILTO="a b"\n\n@daily echo "100\\%"\n')
    properties = {"crontab": True, "user": OWNER, "schedule": "@reboot", "command": f"x {SECRET}"}
    return Scenario("boot", properties, {"job": lambda: path.write_text("")})


def absent(world: World) -> Scenario:
    """A file that has to go."""
    file = _directory(world) / "old"
    file.write_text(f"@daily root {SECRET}\n")
    breaks = {"job": lambda: file.write_text("@daily root true\n")}
    return Scenario("old", {"ensure": "absent"}, breaks)


def absent_own(world: World) -> Scenario:
    """A job of a crontab that has to go."""
    path = _crontab(world)
    text = f"# ccm: old\n@daily {SECRET}\n@daily true\n"
    path.write_text(text)
    properties = {"ensure": "absent", "crontab": True, "user": OWNER}
    return Scenario("old", properties, {"job": lambda: path.write_text(text)})


def commented(world: World) -> Scenario:
    """A job of a crontab below a comment of its own."""
    path = _crontab(world)
    path.write_text("# of the night\n@weekly old\n@daily true\n")
    properties = {"crontab": True, "user": OWNER, "schedule": "@daily", "command": f"x {SECRET}",
                  "comment": "# of the night"}  # fmt: skip
    breaks = {"job": _changed(path, "# of the night", "# of the day")}
    return Scenario("night", properties, breaks)


SCENARIOS = (present, fields, own, commented, absent, absent_own)
