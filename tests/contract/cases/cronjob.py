"""Jobs of the example ``examples/own-type``, in a crontab that is a file."""

from unittest import mock

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import OWNER

CRONTAB = """\
[ "$1" != -u ] || shift 2
case "$1" in
    -l) [ -e crontab ] && cat crontab || { echo "no crontab for OWNER" >&2; exit 1; } ;;
    -) cat > crontab ;;
esac
"""
NAME = "ccm-contract"
MINE = {"user": OWNER, "crontab": True}


def _crontab(world: World) -> None:
    world.program("crontab", CRONTAB.replace("OWNER", OWNER))
    program = "remote_runtime.host.preview.crontabs.Crontabs._require_program"
    world.later.enter_context(mock.patch(program))  # this machine may have no cron


def present(world: World) -> Scenario:
    """A job that is missing."""
    _crontab(world)
    job = {"schedule": "@daily", "command": f"date +%F # {SECRET}", **MINE}
    return Scenario(NAME, job, {"job": lambda: world.remove("crontab")})


def absent(world: World) -> Scenario:
    """A job that has to go."""
    _crontab(world)
    world.write("crontab", f"# ccm: {NAME}\n@daily {SECRET}\n")
    return Scenario(
        NAME,
        {"ensure": "absent", **MINE},
        {"job": lambda: world.write("crontab", f"# ccm: {NAME}\n@daily true\n")},
    )


SCENARIOS = (present, absent)
