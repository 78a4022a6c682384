"""Calls pip and venv, and parses their output (target)."""

import json
import re
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages.names import normalized
from remote_runtime.packages.package_info import DOWNLOAD, Available
from remote_runtime.packages.versions import python as versions

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Result

# Nothing of the directory it is called in, of the user's own packages or of the environment counts,
# and a question leaves no compiled files.
ISOLATED = ("-I", "-B")
_QUIET = {
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_COLOR": "1",
    "PIP_PROGRESS_BAR": "off",
}
OF_INDEX = (
    "--find-links", "--no-index", "--extra-index-url", "--trusted-host", "--no-binary",
    "--only-binary", "--prefer-binary", "--cert", "--client-cert", "--proxy", "--platform",
)  # fmt: skip
"""The options of an installation that also apply to a query of the index."""
_LOST = re.compile(
    r"Retrying \(|Could not fetch URL (?!.*404 Client Error)|ConnectTimeout|NewConnectionError"
    r"|Max retries exceeded|ReadTimeoutError|Temporary failure in name resolution"
)
_NONE = ("No matching distribution found", "Could not find a version that satisfies")
_VERSIONS = re.compile(r"\(from versions: ([^)]*)\)")
_IMPOSSIBLE = "99999999.0"  # a version that no package has: the error lists all versions
UNKNOWN_COMMAND = "unknown command"

# Wheels alone: other files run code before they report their dependencies.
DRY_RUN = (
    "install", "--dry-run", "--report=-", "--quiet", "--no-cache-dir", "--timeout=10",
    "--retries=1", "--only-binary=:all:",
)  # fmt: skip
APART = ("--ignore-installed", "--target=/nonexistent")
"""For an environment that does not exist yet, with the pip of another one."""

# The pip that comes with Python, for an environment that is not there yet.
BUNDLED = """\
import ensurepip, glob, os, runpy, sys
at = getattr(ensurepip, "_WHEEL_PKG_DIR", None)
at = at or os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
sys.path.insert(0, sorted(glob.glob(os.path.join(at, "pip-*.whl")))[-1])
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


def environment(index_url: str) -> Dict[str, str]:
    """Return the variables to add to the environment of pip. An address may contain a password,
    which other users could see in arguments."""
    return dict(_QUIET, PIP_INDEX_URL=index_url) if index_url else dict(_QUIET)


def question(name: str, options: Sequence[str]) -> List[str]:
    """Return the arguments that query an index for the versions of a package."""
    return [
        *("index", "versions", "--pre", "-v", "--no-cache-dir", "--timeout=10", "--retries=1"),
        *_of_index(options),
        *("--", name),
    ]


def older_question(name: str, options: Sequence[str]) -> List[str]:
    """Do the same for a pip without ``index``: asking for an impossible version fails, and the
    error lists the others.
    """
    return [
        *("download", "-v", "--no-cache-dir", "--timeout=10", "--retries=1", "--no-deps"),
        *("--dest=/nonexistent", *_of_index(options)),
        *("--", "%s==%s" % (name, _IMPOSSIBLE)),
    ]


def _of_index(options: Sequence[str]) -> List[str]:
    return [word for word in options if word.partition("=")[0] in OF_INDEX]


def is_lost(result: "Result") -> bool:
    """Return whether the index did not answer."""
    return result.timed_out or _LOST.search(result.stderr + result.stdout) is not None


def answer(result: "Result") -> Available:
    """Return the versions in the index, from pip's output; ``ValueError`` for anything else."""
    listed = ""
    for line in result.stdout.splitlines():
        if line.startswith("Available versions:"):
            listed = line.partition(":")[2]
    match = _VERSIONS.search(result.stderr)
    if match and match.group(1) != "none":
        listed = match.group(1)
    numbers = [text.strip() for text in listed.split(",") if text.strip()]
    numbers = sorted(
        (text for text in numbers if versions.key(text)),
        key=lambda text: versions.key(text) or (),
        reverse=True,
    )
    if numbers:
        final = [text for text in numbers if versions.is_final(text)]
        return Available(True, (final or numbers)[0], numbers)
    if any(text in result.stderr for text in _NONE):
        return Available()
    raise ValueError(result.tail(3))


def resolved(result: "Result") -> Optional[Dict[str, str]]:
    """Return the versions that a dry run would install, by name; None if it does not show them."""
    if result.code != 0 or result.timed_out:
        return None
    try:
        report = json.loads(result.stdout)
        each = [entry["metadata"] for entry in report["install"]]
        return {normalized(one["name"]): one["version"] for one in each}
    except (ValueError, KeyError, TypeError):
        return None


def failure(what: str, result: "Result") -> ResourceError:
    """Return the error of a failed installation or removal."""
    output = result.stderr + result.stdout
    kind, hint = "package.pip", ""
    if "externally-managed-environment" in output:
        hint = "the system's package manager manages this Python: use a virtual environment"
    elif "DO NOT MATCH THE HASHES" in output or "Hashes are required" in output:
        hint = "the file in the index does not match this hash, or a line has no hash"
    elif "No module named pip" in output:
        hint = "install pip in the environment: run python -m ensurepip there"
    elif any(text in output for text in _NONE):
        hint = "check the name, the version and index_url"
    if is_lost(result):
        kind, hint = DOWNLOAD, "check index_url, the proxy and the network of the host"
    return ResourceError(
        "%s: pip: %s" % (what, result.ending(None)), kind=kind, hint=hint, output=result.tail()
    )
