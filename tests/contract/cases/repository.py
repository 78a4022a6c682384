"""Repositories, on a host whose /etc is a directory, with an apt and a dnf that fetch nothing."""

from collections.abc import Callable
from pathlib import Path
from unittest import mock

from orchestrator.verify.checks import repository as checks
from remote_runtime.packages import list_refresh, repository_paths
from remote_runtime.packages.apt.package_lists import Lists
from remote_runtime.packages.managers import apt as apt_provider
from tests.contract.scenario import PASSWORD, SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.repository.signed import FINGERPRINT, KEY, OTHER_KEY

ON_A_HOST = True

NAME = "site"
APT_GET = """\
case " $* " in *" indextargets "*) ;; *) echo "$@" >> updates; exit 0 ;; esac
case "$*" in *"Created-By: Sources") type=deb-src ;; *) type=deb ;; esac
files="$PWD/etc/apt/sources.list.d/*.sources"
[ "$1" != -o ] || files=${2#*=}
for f in $files; do
    [ -e "$f" ] && ! grep -qi '^Enabled: no' "$f" || continue
    field() { sed -n "s/^$1: *//p" "$f"; }
    case " $(field Types) " in *" $type "*) ;; *) continue ;; esac
    for url in $(field URIs | sed 's,file:///*,file:/,g'); do
        for suite in $(field Suites); do
            for part in $(field Components); do echo "${url%/}/|$suite|$part"; done
        done
    done
done
"""


class Etc:
    """The files of a host below its directory."""

    def __init__(self, world: World) -> None:
        self._world = world
        for name in ("apt/sources.list.d", "yum.repos.d"):
            Path(world.path("etc", name)).mkdir(parents=True)
        world.program("apt-get", APT_GET)
        world.program("dnf", 'echo "$@" >> updates\n')
        etc = world.path("etc")
        for where in (repository_paths, checks):
            world.later.enter_context(mock.patch.object(where, "ETC", etc))
        lists = mock.patch.object(apt_provider, "Lists", return_value=Lists(str(world.root)))
        older = mock.patch.object(list_refresh, "_is_older", return_value=False)
        for patch in (lists, older):  # not those of this machine
            world.later.enter_context(patch)

    def put(self, name: str, old: str, new: str) -> Callable[[], object]:
        """What replaces a text of a file, which has to be there."""

        def change() -> None:
            path = Path(self._world.path("etc", name))
            text = path.read_text()
            assert old in text, text
            path.write_text(text.replace(old, new))

        return change

    def remove(self, name: str) -> Callable[[], object]:
        """What removes a file."""
        return lambda: self._world.remove(f"etc/{name}")

    def mode(self, name: str) -> Callable[[], object]:
        """What keeps others from reading a file."""
        return lambda: Path(self._world.path("etc", name)).chmod(0o600)


SOURCES = f"apt/sources.list.d/{NAME}.sources"
REPO = f"yum.repos.d/{NAME}.repo"


def apt(world: World) -> Scenario:
    """A repository that is missing, with a key."""
    etc = Etc(world)
    properties = {
        "url": "https://packages.example.org/debian",
        "suites": ["bookworm"],
        "components": ["main"],
        "key": KEY,
        "description": SECRET,
    }
    breaks = {
        "type": etc.remove(SOURCES),
        "mode": etc.mode(SOURCES),
        "sources": etc.put(SOURCES, "Components: main", "Components: contrib"),
        "key": lambda: world.write(f"etc/apt/keyrings/{NAME}.asc", OTHER_KEY),
    }
    return Scenario(NAME, properties, breaks, "apt")


def of_sources(world: World) -> Scenario:
    """Sources of packages in a directory of the host, and nothing else."""
    etc = Etc(world)
    properties = {
        "url": "file:///srv/debian",
        "suites": ["bookworm"],
        "components": ["main"],
        "types": ["deb-src"],
        "description": SECRET,
    }
    breaks = {
        "type": etc.remove(SOURCES),
        "mode": etc.mode(SOURCES),
        "sources": etc.put(SOURCES, "Types: deb-src", "Types: deb"),
    }
    return Scenario(NAME, properties, breaks, "apt")


def switched_off(world: World) -> Scenario:
    """One that apt reads, and is not to."""
    etc = Etc(world)
    text = "Types: deb\nURIs: http://x/\nSuites: a b\nComponents: main\nSigned-By: /etc/k.gpg\n"
    world.write(f"etc/{SOURCES}", text)
    properties = {
        "urls": ["http://x", "http://y"],
        "suites": ["a"],
        "components": ["main"],
        "enabled": False,
        "options": {"Languages": SECRET},
    }
    breaks = {
        "type": etc.remove(SOURCES),
        "mode": etc.mode(SOURCES),
        "enabled": etc.put(SOURCES, "Enabled: no", "Enabled: yes"),
    }
    return Scenario(NAME, properties, breaks, "apt")


def of_another_key(world: World) -> Scenario:
    """A source whose key something else has installed."""
    etc = Etc(world)
    path = world.write("vendor.gpg", "")
    properties = {
        "url": "http://x",
        "suites": ["a"],
        "components": ["main"],
        "signed_by": [path],
        "description": SECRET,
    }
    breaks = {
        "type": etc.remove(SOURCES),
        "mode": etc.mode(SOURCES),
        "sources": etc.put(SOURCES, "Suites: a", "Suites: b"),
        "signed_by": etc.put(SOURCES, path, "/elsewhere.gpg"),
    }
    return Scenario(NAME, properties, breaks, "apt")


def dnf(world: World) -> Scenario:
    """A repository of dnf beside another one in its file."""
    etc = Etc(world)
    world.write(f"etc/{REPO}", "[other]\nname=other\nbaseurl=http://other\n")
    properties = {
        "url": "https://rpm.example.org/$basearch",
        "key": KEY,
        "fingerprint": FINGERPRINT,
        "priority": 10,
        "description": SECRET,
    }
    breaks = {
        "type": etc.remove(REPO),
        "mode": etc.mode(REPO),
        "baseurl": etc.put(REPO, "rpm.example", "elsewhere.example"),
        "enabled": etc.put(REPO, "enabled=1", "enabled=0"),
        "gpgcheck": etc.put(REPO, "gpgcheck=1", "gpgcheck=0"),
        "priority": etc.put(REPO, "priority=10", "priority=11"),
        "key": lambda: world.write(f"etc/pki/rpm-gpg/RPM-GPG-KEY-{NAME}", OTHER_KEY),
    }
    return Scenario(NAME, properties, breaks, "dnf")


def with_a_login(world: World) -> Scenario:
    """A repository of dnf that asks who is there, with a key of the host."""
    etc = Etc(world)
    properties = {
        "url": "https://rpm.example.org",
        "username": "site",
        "password": PASSWORD,
        "key": world.write("k.asc", KEY),
        "description": SECRET,
    }
    breaks = {
        "type": etc.remove(REPO),
        "mode": lambda: Path(world.path("etc", REPO)).chmod(0o644),
        "baseurl": etc.put(REPO, "rpm.example", "elsewhere.example"),
        "enabled": etc.put(REPO, "enabled=1", "enabled=0"),
        "gpgcheck": etc.put(REPO, "gpgcheck=1", "gpgcheck=0"),
        "key": etc.remove(f"pki/rpm-gpg/RPM-GPG-KEY-{NAME}"),
    }
    return Scenario(NAME, properties, breaks, "dnf")


def absent(world: World) -> Scenario:
    """A repository that has to go, with its key."""
    Etc(world)
    key = world.write(f"etc/apt/keyrings/{NAME}.asc", KEY)
    text = f"Types: deb\nURIs: http://x/\nSuites: a\nComponents: m\nSigned-By: {key}\n"
    world.write(f"etc/{SOURCES}", text)
    again = {"repository": lambda: world.write(f"etc/{SOURCES}", text)}
    return Scenario(NAME, {"ensure": "absent"}, again, "apt")


SCENARIOS = (apt, of_sources, switched_off, of_another_key, dnf, with_a_login, absent)
