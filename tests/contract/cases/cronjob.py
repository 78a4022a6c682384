"""Jobs of the example ``examples/own-type``, in a crontab that is a file."""

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import OWNER

CRONTAB = """\
case "$3" in
    -l) [ -e crontab ] && cat crontab || { echo "no crontab for $2" >&2; exit 1; } ;;
    -) cat > crontab ;;
esac
"""
NAME = "ccm-contract"


def present(world: World) -> Scenario:
    """A job that is missing."""
    world.program("crontab", CRONTAB)
    job = {"schedule": "@daily", "command": f"date +%F # {SECRET}", "user": OWNER}
    return Scenario(NAME, job, {"job": lambda: world.remove("crontab")}, "crontab")


def absent(world: World) -> Scenario:
    """A job that has to go."""
    world.program("crontab", CRONTAB)
    world.write("crontab", f"# ccm: {NAME}\n@daily {SECRET}\n")
    return Scenario(
        NAME,
        {"ensure": "absent", "user": OWNER},
        {"job": lambda: world.write("crontab", f"# ccm: {NAME}\n@daily true\n")},
        "crontab",
    )


SCENARIOS = (present, absent)
