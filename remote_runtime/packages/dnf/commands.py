"""The command lines of dnf (target)."""

from typing import List, Mapping, Sequence, Tuple

from remote_runtime.packages.package_info import Operation

# dnf would wait for a lock forever and without a message.
_OPTIONS = ("--setopt=exit_on_lock=True", "--setopt=*.metadata_expire=never")
REFRESH = ("dnf", "makecache", "-y", "--refresh", "--setopt=exit_on_lock=True")
_FORM = "%{name}\t%{epoch}\t%{version}\t%{release}\t%{arch}\t%{repoid}\n"

Parts = Mapping[str, Tuple[str, str]]
"""The names of packages and their architectures, by name."""


def query(words: Sequence[str], form: str, cached: bool) -> Tuple[str, ...]:
    """Return the command for a query; ``cached``: only with the lists that are on the host."""
    options = (*_OPTIONS, "--cacheonly") if cached else _OPTIONS
    return ("dnf", "-q", *options, "repoquery", "--queryformat", form or _FORM, *words)


def words(operations: Sequence[Operation], older: bool, parts: Parts) -> Sequence[str]:
    """Return the command for operations of one kind; ``older``: it is a downgrade."""
    first = operations[0]
    if first.removal:
        return ("dnf", "remove", "-y", *_OPTIONS, *(one.name for one in operations))
    options: Sequence[str] = _OPTIONS
    if first.recommends is not None:
        options = (*_OPTIONS, "--setopt=install_weak_deps=%s" % first.recommends)
    names = [one.file or _spec(one.name, one.version, parts) for one in operations]
    return ("dnf", "downgrade" if older else "install", "-y", *options, *names)


def asking(command: Sequence[str]) -> List[str]:
    """Return the command with which dnf prints its planned changes and then stops."""
    answers = {"-y": ("--assumeno", "--cacheonly")}
    return [part for word in command for part in answers.get(word, (word,))]


def _spec(name: str, version: str, parts: Parts) -> str:
    """Return one version of a package, as an argument for dnf."""
    package, architecture = parts.get(name, (name, ""))
    return "-".join(filter(None, (package, version))) + (architecture and "." + architecture)
