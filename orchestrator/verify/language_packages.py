"""Packages of pip and npm, from the packages' metadata and npm's records (controller).

Nothing in the environment is run, because it may belong to another user.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from orchestrator.verify.expectation import Ask, Expectation, Host, answer, equal
from orchestrator.verify.paths import kind
from orchestrator.verify.subject import Subject

_NONE = "not installed"
_LOOKED = "looked"
_METADATA = f"""\
cd %s/lib 2>/dev/null &&
for f in */site-packages/*-info/METADATA */site-packages/*-info/PKG-INFO; do
    test ! -f "$f" || sed -n '/^$/q;/^Name:/p;/^Version:/p' "$f" || exit
done
echo {_LOOKED}"""


def is_of_environment(subject: Subject) -> bool:
    """Whether the package is one of pip or npm."""
    return any(subject.get(key) for key in ("environment", "path", "global"))


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for the package in its environment; for requirements, for each
    one with a version.
    """
    if subject.get("environment"):
        return _of_pip(subject)
    return _of_npm(subject)


def _of_pip(subject: Subject) -> list[Expectation]:
    directory = subject.text("environment")
    ensure = subject.text("ensure") or "present"
    name = subject.text("package") or subject.name
    if subject.get("requirements") and ensure != "absent":
        return [
            _environment(directory),
            equal("requirements", [], lambda host: _unmet(host, directory, subject), _listed),
        ]
    return [
        *([] if ensure == "absent" else [_environment(directory)]),
        *_of_one(subject, lambda host: _pip_version(host, directory, name), _is_python_version),
    ]


def _environment(directory: str) -> Expectation:
    """Expect a virtual environment to exist."""
    wanted = f"{directory}/pyvenv.cfg"
    expectation = equal("environment", "a file", lambda host: kind(host, wanted, follow=True))
    return expectation._replace(gate=True)


def state(
    subject: Subject, *, is_there: Ask, version: Ask, is_version: Callable[[Any, str], bool]
) -> list[Expectation]:
    """Whether it is installed, and the version. ``latest`` counts as installed: only the package
    manager knows whether a version is the latest."""
    ensure = subject.text("ensure") or "present"
    if ensure == "absent":
        gone = Expectation("state", _NONE, is_there, lambda found: not found)
        return [gone._replace(tell=lambda host, _: f"version {version(host)}")]
    of_version = Expectation("version", ensure, version, lambda found: is_version(found, ensure))
    if subject.get("only_upgrade"):
        upgrade = of_version._replace(
            expected=f"{ensure}, or {_NONE}",
            find=lambda host: version(host) if is_there(host) else None,
            holds=lambda found: found is None or is_version(found, ensure),
        )
        return [] if ensure == "latest" else [upgrade]
    there = Expectation("state", "installed", is_there, bool, gate=True)._replace(
        tell=lambda host, _: _NONE
    )
    return [there] if ensure in ("present", "latest") else [there, of_version]


def _of_one(
    subject: Subject, find: Ask, is_version: Callable[[Any, str], bool]
) -> list[Expectation]:
    """Expect a package; its version shows that it is installed."""
    return state(subject, is_there=find, version=find, is_version=is_version)


def _is_python_version(version: str, wanted: str) -> bool:
    """Whether two spellings mean the same version; a local part is compared only if it
    is expected.
    """
    try:
        there, asked = Version(version), Version(wanted)
    except InvalidVersion:
        return version == wanted
    return asked == (there if asked.local else Version(there.public))


def _metadata(host: Host, directory: str) -> dict[str, str]:
    """The versions of all packages, from METADATA or PKG-INFO."""
    text = answer(
        host, _METADATA, directory, problem=f"{directory} could not be read",
        valid=lambda text: text.split()[-1:] == [_LOOKED],
    )  # fmt: skip
    found, name = {}, ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "Name":
            name = canonicalize_name(value.strip())
        elif name:
            found[name] = value.strip()
    return found


def _pip_version(host: Host, directory: str, name: str) -> str:
    return _metadata(host, directory).get(canonicalize_name(name), "")


def _unmet(host: Host, directory: str, subject: Subject) -> list[str]:
    """The requirements with a single version and without conditions that are not met."""
    given = subject.text("requirements")
    if given.startswith("/") and "\n" not in given:
        given = answer(host, "cat -- %s", given, problem=f"{given} is empty", valid=bool)
    there = _metadata(host, directory)
    result = []
    for line in given.splitlines():
        match = re.match(
            r"([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\]\s*)?==\s*([^\s;\\*]+)\s*([\\#]|--|$)", line
        )
        if match is None:
            continue
        version = there.get(canonicalize_name(match.group(1)), "")
        if not version or not _is_python_version(version, match.group(2)):
            result.append(f"{match.group(1)} {version or _NONE}")
    return result


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "all installed"


def _of_npm(subject: Subject) -> list[Expectation]:
    name = subject.text("package") or subject.name
    path = subject.text("path")
    if subject.get("ci") and subject.text("ensure") != "absent":
        dev = not subject.get("production")
        return [equal("packages", [], lambda host: _not_locked(host, path, dev), _listed)]
    return _of_one(subject, lambda host: _npm_version(host, path, name), _is_same)


def _is_same(version: str, wanted: str) -> bool:
    return version == wanted.removeprefix("v")


def _npm_version(host: Host, path: str, name: str) -> str:
    """From npm's record of installed packages; for the host, from npm itself."""
    if not path:
        result = host.run("npm ls --global --depth=0 --json %s", name)
        if not result.stdout.strip():
            raise RuntimeError(result.stderr.strip() or f"npm exited with {result.rc}")
        there = json.loads(result.stdout).get("dependencies", {})
        return str(there.get(name, {}).get("version", ""))
    if kind(host, f"{path}/node_modules/{name}", follow=True) != "a directory":
        return ""
    return _record(host, path).get(f"node_modules/{name}", "")


def _record(host: Host, path: str, file: str = "node_modules/.package-lock.json") -> dict[str, str]:
    return {place: str(entry.get("version", "")) for place, entry in _places(host, path, file)}


def _places(host: Host, path: str, file: str) -> list[tuple[str, dict[str, Any]]]:
    result = host.run("cat -- %s", f"{path}/{file}")
    if result.stderr.strip().endswith("No such file or directory"):
        return []
    if result.rc or not result.stdout:
        raise RuntimeError(result.stderr.strip() or f"{path}/{file} could not be read")
    packages = json.loads(result.stdout).get("packages", {})
    return [(place, entry) for place, entry in packages.items() if place]


def _not_locked(host: Host, path: str, dev: bool) -> list[str]:
    """The differences between npm's record and the lock file."""
    there = _record(host, path)
    result = []
    for place, entry in _places(host, path, "package-lock.json"):
        may_miss = entry.get("optional") or entry.get("devOptional") or entry.get("link")
        if may_miss or (entry.get("dev") and not dev):
            continue
        if there.get(place) != entry.get("version"):
            result.append(f"{place.removeprefix('node_modules/')} {there.get(place) or _NONE}")
    return result
