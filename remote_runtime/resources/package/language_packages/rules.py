"""The rules for the properties of pip and npm packages (both sides)."""

import re
from typing import List, Sequence, Tuple

from remote_runtime.base import Properties
from remote_runtime.packages.package_info import ABSENT, LATEST, PRESENT
from remote_runtime.packages.versions import python as versions
from remote_runtime.resources.package.language_packages import OWN, PROVIDERS, SHARED, provider_of
from remote_runtime.validation import rules

_OF_SYSTEM = (
    "update_cache",
    "install_recommends",
    "purge",
    "hold",
    "lock_timeout",
    "debconf",
    "source",
    "checksum",
)
_PIP_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_NPM_NAME = re.compile(r"(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*\Z")
_OPTION = re.compile(r"--?[A-Za-z][^\s\x00-\x1f\x7f]*\Z")
_URL = re.compile(r"(?:https?|file)://[^\s\x00-\x1f\x7f]+\Z")
_REFUSED = {
    "pip": (
        "-t", "--target", "--user", "--root", "--prefix", "--python", "-r", "--requirement", "-e",
        "--editable", "-U", "--upgrade", "--dry-run", "--report", "--break-system-packages",
        "--index-url", "-i", "--require-hashes", "--force-reinstall", "--download", "-d",
    ),
    "npm": ("-g", "--global", "--location", "--prefix", "-C", "--dry-run", "--registry"),
}  # fmt: skip
_WHOLE = ("--pre",)  # options that a refused one begins with
_SYSTEM = ("/", "/usr", "/usr/local")


def problems(name: str, properties: Properties) -> List[Tuple[str, str]]:
    """Return the problems, as (property, message)."""
    provider = provider_of(properties)
    keys = [key for key, value in properties.items() if value not in (None, False)]
    if provider not in PROVIDERS:
        others = [*SHARED, *OWN["pip"], *OWN["npm"]]
        reason = "it is only for pip and npm packages: set provider, and environment or path"
        return [(key, reason) for key in keys if key in others]
    other = "npm" if provider == "pip" else "pip"
    problems = [
        (key, "it is for %s, not for %s" % (other, provider)) for key in keys if key in OWN[other]
    ]
    problems += [
        (key, "it is for system packages, not for packages of %s" % provider)
        for key in keys
        if key in _OF_SYSTEM
    ]
    problems += _of_place(provider, properties)
    problems += _of_name(provider, name, properties)
    problems += _of_whole(provider, properties)
    return problems + _of_options(provider, properties)


def _of_place(provider: str, properties: Properties) -> List[Tuple[str, str]]:
    if provider == "pip":
        path = properties.get("environment")
        if not path:
            reason = (
                "pip installs into virtual environments only: set environment to the path of one"
            )
            return [("environment", reason)]
        if path in _SYSTEM:
            reason = "%s contains the Python of the system (PEP 668): use a virtual environment, "
            return [("environment", (reason + "such as /opt/NAME/venv") % path)]
        return [("environment", message) for message in rules.of_path(str(path))]
    path, is_global = properties.get("path"), properties.get("global") is True
    if bool(path) == is_global:
        return [("path", "set either path, or global: true")]
    if is_global and properties.get("owner"):
        return [
            ("owner", "it requires path: packages for the whole host belong to the user of the run")
        ]
    if path == "/":
        return [("path", "the root directory cannot contain packages")]
    return [("path", message) for message in rules.of_path(str(path))] if path else []


def _of_name(provider: str, name: str, properties: Properties) -> List[Tuple[str, str]]:
    if properties.get("requirements") or properties.get("ci") is True:
        return [("name", "it starts with a hyphen")] if name.startswith("-") else []
    key, value = (
        ("package", str(properties["package"])) if properties.get("package") else ("name", name)
    )
    if provider == "pip" and not _PIP_NAME.match(value):
        reason = "%r is not the name of a Python package: use letters, digits and . _ - only"
        return [(key, reason % value)]
    if provider == "npm" and not _NPM_NAME.match(value):
        return [
            (key, "%r is not the name of a Node.js package, such as express or @scope/name" % value)
        ]
    return []


def _of_whole(provider: str, properties: Properties) -> List[Tuple[str, str]]:
    ensure = properties.get("ensure", PRESENT)
    result = []
    for key in ("requirements", "ci"):
        if not properties.get(key):
            continue
        if ensure not in (PRESENT, ABSENT):
            result.append((key, "the file sets the versions: omit ensure"))
        if properties.get("package"):
            result.append(("package", "%s installs several packages; omit package" % key))
    if properties.get("require_hashes") and not properties.get("requirements"):
        result.append(("require_hashes", "it requires requirements"))
    if properties.get("ci") and properties.get("global"):
        result.append(("ci", "it requires path"))
    is_version = isinstance(ensure, str) and ensure not in (PRESENT, ABSENT, LATEST)
    if provider == "pip" and is_version and versions.key(str(ensure)) is None:
        result.append(("ensure", "%r is not a version of a Python package (PEP 440)" % ensure))
    if provider == "npm" and is_version and not _is_semantic(str(ensure)):
        result.append(("ensure", "%r is not a single version such as 4.18.2" % ensure))
    return result


def _of_options(provider: str, properties: Properties) -> List[Tuple[str, str]]:
    result = []
    url = properties.get("index_url")
    if isinstance(url, str) and not _URL.match(url):
        result.append(("index_url", "expected a URL that begins with https://, http:// or file://"))
    for word in properties.get("options") or ():
        option = str(word).partition("=")[0]
        if not _OPTION.match(str(word)):
            result.append(
                ("options", "%r is not one option, such as --no-deps or --name=value" % word)
            )
        elif _is_refused(option, _REFUSED[provider]):
            result.append(
                ("options", "%s is not allowed: use the properties of the resource" % option)
            )
    return result


def _is_semantic(text: str) -> bool:
    from remote_runtime.packages.versions import semantic

    return semantic.is_version(text)


def _is_refused(option: str, refused: Sequence[str]) -> bool:
    """Return whether it is one of the ``refused`` options in any spelling of both programs: long
    options may be abbreviated, and the value may directly follow a short one."""
    if option in _WHOLE:
        return False
    if option.startswith("--"):
        return any(one.startswith(option) for one in refused)
    return option[:2] in refused
