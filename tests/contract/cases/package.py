"""Packages, on a host with a small dpkg and apt: a file for each package that is installed.

Environments have a small pip, and the host a small npm.
"""

from pathlib import Path
from typing import Any

from remote_runtime.packages.apt.package_lists import Lists
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
DPKG_DEB = """\
[ "$1" = -f ] || exit 2
printf 'Package: app\\nVersion: 3.0\\nArchitecture: all\\n'
"""
APT_GET = """\
for last; do :; done
case "$*" in
    "-s "*purge*) [ ! -e "packages/$last" ] || echo "Purg $last [$(cat "packages/$last")]" ;;
    *purge*) rm -f "packages/$last" kept ;;
    "-s "*remove*) echo "Remv $last [$(cat "packages/$last")]" ;;
    "-s "*.deb) echo "Inst app (3.0 here [all])" ;;
    "-s "*=*.0) echo "Inst ${last%=*} (${last#*=} here [all])" ;;
    "-s "*) echo "Inst $last (2.0 here [all])" ;;
    *remove*) rm "packages/$last" ;;
    *.deb) echo 3.0 > packages/app ;;
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
        manager = provider.manager
        manager.lists = Lists(world.path("lists"))  # not those of this machine
        manager.admin = world.path("admin")
        manager.caches = world.path("caches")

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
        provider.manager.answer_files = [data, world.path("passwords.dat")]

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


def from_file(world: World) -> Scenario:
    """A newer version from a file of the host."""
    made = scenario(world, "1.0", "present", state="")
    world.program("dpkg-deb", DPKG_DEB)
    source = world.write("app.deb", "a package\n")
    return made._replace(properties={"ensure": "present", "source": source})


PYTHON = """\
#!/bin/sh
cd "${0%/bin/python}/lib/python3.11/site-packages" || exit
while [ "$1" != pip ]; do shift; done
[ "$3" != --dry-run ] || exit 1
for last; do :; done
one() {
    name=${1%%==*} version=2.0
    [ "$name" = "$1" ] || version=${1#*==}
    rm -rf "$name"-*.dist-info
    mkdir "$name-$version.dist-info"
    printf 'Name: %s\nVersion: %s\n\n' "$name" "$version" > "$name-$version.dist-info/METADATA"
    echo pip > "$name-$version.dist-info/INSTALLER"
}
case "$2" in
    index) echo "$last (2.0)"; echo "Available versions: 2.0, 1.0" ;;
    uninstall) rm -rf "$last"-*.dist-info ;;
    install) case "$*" in
        *" -r "*) while read -r line _; do one "$line"; done < "$last" ;;
        *) one "$last" ;;
        esac ;;
esac
"""
PYTHON3 = """\
case "$*" in
    *--dry-run*) exit 1 ;;
    *sysconfig*) echo "$PWD" ;;
    *"-m venv"*) mkdir -p venv/bin venv/lib/python3.11/site-packages
        cp python venv/bin/python
        echo "version = 3.11.2" > venv/pyvenv.cfg
        venv/bin/python pip install pip==23.0 ;;
    *) echo "Available versions: 2.0, 1.0" ;;
esac
"""
NPM = """\
case "$*" in *--dry-run*) exit 1 ;; esac
where=node_modules
case "$1" in
    --prefix) where=$2/node_modules; mkdir -p "$2"; shift 2 ;;
    --global) where=global; shift ;;
esac
for last; do :; done
one() {
    mkdir -p "$where/$1"
    echo "{\\"version\\": \\"$2\\"}" > "$where/$1/package.json"
    record=$where/.package-lock.json
    echo "{\\"packages\\": {\\"node_modules/$1\\": {\\"version\\": \\"$2\\"}}}" > "$record"
}
case "$1" in
    root) echo "$PWD/global" ;;
    view) echo '{"versions": ["1.0.0", "2.0.0"], "dist-tags": {"latest": "2.0.0"}}' ;;
    uninstall) rm -r "$where/$last" ;;
    install) version=${last##*@}
        [ -n "${last%@*}" ] && [ "$version" != "$last" ] || { last=$last@2.0.0 version=2.0.0; }
        one "${last%@*}" "$version" ;;
    ci) one app 1.0.0 ;;
    ls) found=$(cat global/app/package.json 2>/dev/null)
        echo "{\\"dependencies\\": {${found:+\\"app\\": $found}}}" ;;
esac
"""


def environment(world: World, before: str, **properties: Any) -> Scenario:
    """A virtual environment with an old version of a package, or with none."""
    site = "venv/lib/python3.11/site-packages"
    world.write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n")
    world.write("venv/bin/python", PYTHON, 0o755)
    world.write("python", PYTHON, 0o755)
    world.write("ensurepip/__init__.py", "")
    world.program("python3", PYTHON3)

    def put(name: str, version: str) -> None:
        here = Path(world.path(site))
        for old in here.glob(f"{name}-*.dist-info"):
            world.remove(f"{site}/{old.name}")
        if version:
            said = f"Name: {name}\nVersion: {version}\n\n"
            world.write(f"{site}/{name}-{version}.dist-info/METADATA", said)
            world.write(f"{site}/{name}-{version}.dist-info/INSTALLER", "pip\n")

    put("pip", "23.0")
    put("app", before)
    breaks = {"environment": lambda: world.remove("venv")}
    if properties.get("ensure") == "absent":
        breaks = {"state": lambda: put("app", "1.0")}
    elif "requirements" in properties:
        breaks["requirements"] = lambda: put("app", "")
    else:
        breaks["state"] = lambda: put("app", "")
    if properties.get("ensure") == "1.0":
        breaks["version"] = lambda: put("app", "2.0")
    given = {"environment": world.path("venv"), **properties}
    return Scenario("app", given, breaks, "pip", found_by=("environment",))


def in_environment(world: World) -> Scenario:
    """A package that is missing in a virtual environment."""
    return environment(world, "", ensure="latest")


def version_in_environment(world: World) -> Scenario:
    """Another version in a virtual environment."""
    return environment(world, "2.0", ensure="1.0", options=["--no-deps"])


def absent_in_environment(world: World) -> Scenario:
    """A package that has to go."""
    return environment(world, "1.0", ensure="absent")


def requirements(world: World) -> Scenario:
    """Requirements with hashes, of a file of the host."""
    path = world.write("requirements.txt", "app==1.0 --hash=sha256:00\n")
    return environment(world, "2.0", requirements=path, require_hashes=True)


def directory(world: World, before: str, **properties: Any) -> Scenario:
    """A directory, or the host, with an old version of a package, or with none."""
    world.program("npm", NPM)
    where = "global" if properties.get("global") else "app/node_modules"

    def put(version: str) -> None:
        for name in (f"{where}/app", f"{where}/.package-lock.json"):
            if Path(world.path(name)).exists():
                world.remove(name)
        if version:
            world.write(f"{where}/app/package.json", f'{{"version": "{version}"}}')
            record = f'{{"packages": {{"node_modules/app": {{"version": "{version}"}}}}}}'
            world.write(f"{where}/.package-lock.json", record)

    put(before)
    breaks = {"state": lambda: put("1.0.0" if properties.get("ensure") == "absent" else "")}
    if properties.get("ci"):
        breaks = {"packages": lambda: put("")}
    elif properties.get("ensure") == "1.0.0":
        breaks["version"] = lambda: put("2.0.0")
    given = (
        dict(properties) if properties.get("global") else {"path": world.path("app"), **properties}
    )
    found_by = ("global",) if properties.get("global") else ("path",)
    return Scenario("app", {**given, **properties}, breaks, "npm", found_by=found_by)


def in_directory(world: World) -> Scenario:
    """A package that is missing, in a directory that is missing."""
    return directory(world, "")


def version_in_directory(world: World) -> Scenario:
    """Another version."""
    return directory(world, "2.0.0", ensure="1.0.0")


def absent_in_directory(world: World) -> Scenario:
    """A package that has to go."""
    return directory(world, "1.0.0", ensure="absent")


def on_the_host(world: World) -> Scenario:
    """A global package that is missing."""
    return directory(world, "", **{"global": True})


def locked(world: World) -> Scenario:
    """What a lock file has."""
    world.write("app/package.json", "{}")
    world.write(
        "app/package-lock.json",
        '{"packages": {"": {}, "node_modules/app": {"version": "1.0.0"}}}',
    )
    return directory(world, "", ci=True, production=True)


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
    in_environment,
    version_in_environment,
    absent_in_environment,
    requirements,
    in_directory,
    version_in_directory,
    absent_in_directory,
    on_the_host,
    locked,
    from_file,
)
