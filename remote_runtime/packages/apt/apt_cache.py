"""Parses the output of apt-cache (target)."""

import re
from typing import Callable, Dict, List, Sequence

from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.packages.package_info import Available

_HEADER = re.compile(r"(\S+):$")
_CANDIDATE = re.compile(r"  Candidate: (\S+)$")
_VERSION = re.compile(r" (?:\*\*\*|   ) (\S+)(?: -?\d+(?: .*)?)?$")
_NONE = "(none)"
_NAMES = 1000  # names on one command line

# A name that apt cannot have. Such a one is never handed to apt, which reads `~nvim` and `vim-` as
# a pattern and as the wish to remove vim.
_LEGAL = re.compile(r"[a-z0-9][a-z0-9+.-]*(:[a-z0-9-]+)?\Z")


def look_up(
    names: Sequence[str], query: Callable[[List[str]], str], native: str
) -> Dict[str, Available]:
    """Return the versions of each name in the lists; ``query`` runs apt-cache, ``native`` is the
    host's own architecture.
    """
    legal_names = [name for name in names if _LEGAL.match(name)]
    available: Dict[str, Available] = {}
    for at in range(0, len(legal_names), _NAMES):
        available.update(parse_policy(query(["policy", "--"] + legal_names[at : at + _NAMES])))
    answers: Dict[str, Available] = {}
    for name in names:
        package, architecture = dpkg.split_name(name)
        answer = available.get(name)
        if answer is None and architecture in ("any", *dpkg.NATIVE, native):
            answer = available.get(package)
        answers[name] = answer or Available()
    return answers


def parse_policy(printed: str) -> Dict[str, Available]:
    """Parse ``apt-cache policy``: the available versions, under the names that apt prints."""
    available: Dict[str, Available] = {}
    name, candidate = "", ""
    versions: List[str] = []
    for line in printed.splitlines() + ["end:"]:
        header = _HEADER.match(line)
        if header:
            if name:
                available[name] = Available(True, candidate, tuple(versions))
            name, candidate, versions = header.group(1), "", []
            continue
        fits = _CANDIDATE.match(line)
        if fits:
            candidate = "" if fits.group(1) == _NONE else fits.group(1)
            continue
        version = _VERSION.match(line)
        if version and name:
            versions.append(version.group(1))
    return available


def parse_reverse_provides(printed: str) -> List[str]:
    """Parse ``apt-cache showpkg``: the names of the packages that provide this one, sorted."""
    _, marker, rest = printed.partition("\nReverse Provides:")
    names = {line.split(" ")[0] for line in rest.splitlines() if line.strip()}
    return sorted(names) if marker else []
