"""Packages, on a host with a small dpkg and apt: a file for each package that is installed."""

from pathlib import Path
from typing import Any

from remote_runtime.resources.package.apt.lists import Lists
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True

DPKG_QUERY = """\
case "$1" in
    -W) for f in packages/*; do
        want=install; [ ! -e "holds/${f#packages/}" ] || want=hold
        echo "${f#packages/} $(cat "$f") all installed $want"
        done
        [ ! -e kept ] || echo "app 1.0 all config-files deinstall" ;;
    -f) [ ! -e kept ] || { echo "deinstall ok config-files 1.0"; exit; }
        [ -e "packages/$4" ] || { echo "dpkg-query: no packages found matching $4" >&2; exit 1; }
        want=install; [ ! -e "holds/$4" ] || want=hold
        echo "$want ok installed $(cat "packages/$4")" ;;
esac
"""
APT_MARK = """\
mkdir -p holds
for last; do :; done
case "$1" in
    hold) touch "holds/$last" ;;
    unhold) rm -f "holds/$last" ;;
    showhold) ls holds ;;
esac
"""
OTHER_ANSWERS = "Name: app/name\nTemplate: app/name\nValue: red\nOwners: app\n\n"
SET_SELECTIONS = """\
: > config.dat
while read -r owner name type value; do
    echo "Name: $name"; echo "Value: $value"; echo
done >> config.dat
"""
DEBCONF_SHOW = """\
sed -n -e 's/^Name: \\(.*\\)/\\1/' -e T -e 'h;n;:a' -e 's/^Value: //' -e 't b' -e 'n;b a' \\
    -e ':b' -e 'H;x;s/\\n/: /;s/^/* /;p' config.dat
"""
APT_CACHE = """\
shift 2
for name; do
    printf '%s:\\n  Installed: (none)\\n  Candidate: 2.0\\n' "$name"
    printf '  Version table:\\n     2.0 500\\n     1.0 500\\n'
done
"""
APT_GET = """\
for last; do :; done
case "$*" in
    "-s "*purge*) [ ! -e "packages/$last" ] || echo "Purg $last [$(cat "packages/$last")]" ;;
    *purge*) rm -f "packages/$last" kept ;;
    "-s "*remove*) echo "Remv $last [$(cat "packages/$last")]" ;;
    "-s "*=*.0) echo "Inst ${last%=*} (${last#*=} here [all])" ;;
    "-s "*) echo "Inst $last (2.0 here [all])" ;;
    *remove*) rm "packages/$last" ;;
    *=*.0) echo "${last#*=}" > "packages/${last%=*}" ;;
    *) echo 2.0 > "packages/$last" ;;
esac
"""


def host(world: World, version: str) -> Path:
    """The file that stands for the package app, and dpkg's own."""
    world.program("dpkg-query", DPKG_QUERY)
    world.program("apt-cache", APT_CACHE)
    world.program("apt-mark", APT_MARK)
    world.program("apt-get", APT_GET)
    world.write("packages/dpkg", "1.21\n")
    file = Path(world.path("packages", "app"))
    if version:
        file.write_text(f"{version}\n")
    return file


def scenario(world: World, before: str, ensure: str, **breaks: str) -> Scenario:
    """``breaks``: what differs, and the version that brings that about, "" for none."""
    file = host(world, before)

    def ready(provider: Any) -> None:
        provider.lists = Lists(world.path("lists"))  # not those of this machine
        provider.admin = world.path("admin")
        provider.caches = world.path("caches")

    def become(version: str) -> None:
        file.write_text(f"{version}\n") if version else file.unlink()

    undo = {what: lambda to=to: become(to) for what, to in breaks.items()}
    return Scenario("app", {"ensure": ensure}, undo, "apt", ready=ready)


def present(world: World) -> Scenario:
    """A package that is missing."""
    return scenario(world, "", "present", state="")


def cached(world: World) -> Scenario:
    """A package that is missing on a host that keeps caches of its lists."""
    world.write("caches/pkgcache.bin", "cache")
    return present(world)


def version(world: World) -> Scenario:
    """An older version than the one that is installed."""
    return scenario(world, "2.0", "1.0", state="", version="2.0")


def latest(world: World) -> Scenario:
    """A newer version than the one that is installed; which that is only apt can tell."""
    return scenario(world, "1.0", "latest", state="")


def absent(world: World) -> Scenario:
    """A package that has to go."""
    return scenario(world, "1.0", "absent", state="1.0")


def purged(world: World) -> Scenario:
    """A package that has to go with its configuration files."""
    made = scenario(world, "1.0", "absent", state="1.0")
    breaks = {**made.breaks, "configuration": lambda: world.write("kept", "")}
    return made._replace(properties={"ensure": "absent", "purge": True}, breaks=breaks)


def on_hold(world: World) -> Scenario:
    """A package of another version that is to stay at the requested one."""
    made = scenario(world, "1.0", "2.0", state="", version="1.0")
    world.write("holds/app", "")
    return made._replace(
        properties={"ensure": "2.0", "hold": True, "allow_downgrade": False},
        breaks={**made.breaks, "hold": lambda: world.remove("holds/app")},
    )


def released(world: World) -> Scenario:
    """A package on hold that may change again."""
    made = scenario(world, "1.0", "present", state="")
    world.write("holds/app", "")
    return made._replace(
        properties={"ensure": "present", "hold": False},
        breaks={**made.breaks, "hold": lambda: world.write("holds/app", "")},
    )


def upgraded(world: World) -> Scenario:
    """A package that is upgraded if it is there."""
    made = scenario(world, "1.0", "2.0", version="1.0")
    return made._replace(properties={"ensure": "2.0", "only_upgrade": True})


def answered(world: World) -> Scenario:
    """A package that is missing, with answers to its questions."""
    made = scenario(world, "", "present", state="")
    world.program("debconf-set-selections", SET_SELECTIONS)
    world.program("debconf-show", DEBCONF_SHOW)
    data = world.write("config.dat", OTHER_ANSWERS)

    def ready(provider: Any) -> None:
        made.ready(provider)
        provider.answer_files = [data, world.path("passwords.dat")]

    def forget() -> None:
        Path(data).write_text(OTHER_ANSWERS)

    answers = {
        "app/name": {"type": "string", "value": "blue sky"},
        "app/more": {"type": "boolean", "value": True},
        "app/parts": {"type": "multiselect", "value": "b, a"},
        "app/key": {"type": "password", "value": SECRET},
    }
    gone = {f"debconf {question}": forget for question in answers if question != "app/key"}
    return made._replace(
        properties={"ensure": "present", "debconf": answers},
        breaks={**made.breaks, **gone},
        ready=ready,
    )


SCENARIOS = (
    present,
    cached,
    version,
    latest,
    absent,
    purged,
    on_hold,
    released,
    upgraded,
    answered,
)
