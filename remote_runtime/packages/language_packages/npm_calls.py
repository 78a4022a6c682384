"""Calls npm, and parses its output (target)."""

import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.package_info import DOWNLOAD, Available
from remote_runtime.packages.versions import semantic

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Result

_QUIET = {
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "npm_config_progress": "false",
    "npm_config_color": "false",
    "npm_config_yes": "true",
}
OF_REGISTRY = ("--registry", "--proxy", "--https-proxy", "--cafile", "--strict-ssl", "--noproxy")
_LOST = (
    "ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN", "ENETUNREACH",
    "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "E500", "E502", "E503", "E504", "ENOTCACHED",
)  # fmt: skip
# A question leaves no cache and no log.
ASKING = """\
d=$(mktemp -d) || exit
trap 'rm -rf "$d"' EXIT
mkdir "$d/new" || exit
npm=$1; shift
if [ "$1" = --new ]; then shift; set -- --prefix "$d/new" "$@"; fi
npm_config_cache=$d npm_config_logs_max=0 npm_config_fetch_retries=1 \
    npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_timeout=15000 "$npm" "$@"
"""


def environment(registry: str) -> Dict[str, str]:
    """Return the variables to add to the environment of npm. An address may contain a password,
    which other users could see in arguments."""
    return dict(_QUIET, npm_config_registry=registry) if registry else dict(_QUIET)


def of_registry(options: Sequence[str]) -> List[str]:
    """Return the options of an installation that also apply to a query of the registry."""
    return [word for word in options if word.partition("=")[0] in OF_REGISTRY]


def answer(result: "Result") -> Available:
    """Return the versions in the registry, from npm's output; ``ValueError`` without an answer."""
    document: Any = json.loads(result.stdout) if result.stdout.strip() else None
    if isinstance(document, list):
        document = document[-1] if document else None  # of a name that stands for several
    if not isinstance(document, dict):
        raise ValueError(result.tail(3))
    error = document.get("error")
    if isinstance(error, dict):
        if error.get("code") == "E404":
            return Available()
        raise ValueError(str(error.get("summary") or error.get("code")))
    listed = document.get("versions") or []
    versions = [listed] if isinstance(listed, str) else [one for one in listed if one]
    versions = sorted(map(str, versions), key=semantic.key, reverse=True)
    tags = document.get("dist-tags")
    latest = tags.get("latest") if isinstance(tags, dict) else None
    candidate = latest if isinstance(latest, str) else (versions or [""])[0]
    return Available(bool(versions), candidate, versions)


def resolved(result: "Result") -> Optional[Dict[str, str]]:
    """Return the versions that a dry run would install directly below ``node_modules``, by name;
    None if it does not show all of them."""
    start = result.stdout.find("{")
    try:
        report = json.loads(result.stdout[start:]) if start >= 0 else {}
        added = list(report.get("add", ()))
        added += [one["to"] for one in report.get("change", ())]
        if result.code != 0 or len(report.get("add", ())) != report["added"]:
            return None
        direct = [one for one in added if str(one["path"]).count("/node_modules/") == 1]
        return {str(one["name"]): str(one["version"]) for one in direct}
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def locked(lock: Mapping[str, Any], production: bool) -> Iterator[Tuple[str, str]]:
    """Yield the paths of the packages of a lock file with their versions; optional packages are
    omitted."""
    packages = lock.get("packages")
    old = lock.get("dependencies")
    if isinstance(packages, dict):
        entries = [(place, entry) for place, entry in packages.items() if place]
    elif isinstance(old, dict):
        entries = [("node_modules/" + name, entry) for name, entry in old.items()]
    else:
        entries = []
    for place, entry in sorted(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("version"), str):
            continue
        optional = entry.get("optional") or entry.get("devOptional") or entry.get("link")
        if optional or (production and entry.get("dev")):
            continue
        parts = place.split("/")
        if "node_modules" in parts and not {"", ".."} & set(parts):
            yield place, entry["version"]


def failure(what: str, result: "Result") -> ResourceError:
    """Return the error of a failed installation or removal."""
    output = result.stderr + result.stdout
    kind, hint = "package.npm", ""
    if any(word in output for word in _LOST):
        kind, hint = DOWNLOAD, "check index_url, the proxy and the network of the host"
    elif "E404" in output or "ETARGET" in output:
        hint = "check the name, the version and index_url"
    elif "EACCES" in output or "EPERM" in output:
        hint = "the owner of the directory must be able to write to it"
    elif "EUSAGE" in output and "npm ci" in output:
        hint = "package.json and package-lock.json do not match: run npm install and commit both"
    return ResourceError(
        "%s: npm: %s" % (what, result.ending(None)), kind=kind, hint=hint, output=result.tail()
    )
