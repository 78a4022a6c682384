"""The rules for an archive resource in addition to its schema (both sides)."""

from typing import Any, Dict

from remote_runtime.downloads.request import access_problems, positive_seconds, url_problem
from remote_runtime.validation import rules
from remote_runtime.validation.rules import Problems

# A name's ending and the kind of archive that it stands for.
_ENDINGS = (
    (".tar.gz", "tar.gz"),
    (".tgz", "tar.gz"),
    (".tar.xz", "tar.xz"),
    (".txz", "tar.xz"),
    (".tar.bz2", "tar.bz2"),
    (".tbz2", "tar.bz2"),
    (".tar.zst", "tar.zst"),
    (".tzst", "tar.zst"),
    (".tar", "tar"),
    (".zip", "zip"),
)
_KNOWN = ".tar.gz, .tgz, .tar.xz, .txz, .tar.bz2, .tbz2, .tar.zst, .tzst, .tar or .zip"
# Endings of other kinds of archives and of single compressed files; any other ending says nothing
# about the kind.
_OTHERS = (
    ".7z",
    ".rar",
    ".tar.z",
    ".tar.lz",
    ".tar.lz4",
    ".tar.lzma",
    ".tar.br",
    ".cab",
    ".cpio",
    ".gz",
    ".xz",
    ".bz2",
    ".zst",
    ".deb",
    ".rpm",
)
_UNITS = {"TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1}


def kind_of(path: str) -> str:
    """The kind of archive that a path names, such as tar.gz or zip; "" if it is unknown."""
    for ending, kind in _ENDINGS:
        if path.lower().endswith(ending) and not path.lower().endswith("/" + ending):
            return kind
    return ""


def parse_size(text: str) -> int:
    """Return the bytes of a size such as "512MiB". ``ValueError`` describes the expected form."""
    for unit, factor in _UNITS.items():
        number = text[: -len(unit)]
        if text.endswith(unit) and number.isdigit():
            return int(number) * factor
    raise ValueError("%r is not a size such as 512MiB or 10GiB" % text)


def problems(name: str, properties: Dict[str, Any]) -> Problems:
    """Each violated rule as (property, message); no message repeats text that could be a
    credential.
    """
    problems = [("name", message) for message in rules.of_path(name)]
    if not kind_of(name):
        problems.append(("name", "the name must end in " + _KNOWN))
    problems.extend(_of_url(name, properties.get("url")))
    for key in ("extract_parent", "creates"):
        if isinstance(properties.get(key), str):
            problems.extend((key, message) for message in rules.of_path(properties[key]))
    problems.extend(("creates", message) for message in rules.of_creates(properties.get("creates")))
    problems.extend(rules.of_tries(properties))
    if properties.get("cleanup") is True:
        for key in ("extract_parent", "creates"):
            if properties.get(key) is None:
                problems.append(("cleanup", "cleanup requires %s" % key))
    problems.extend(access_problems(properties))
    problems.extend(_of_limits(properties))
    return problems


def _of_url(name: str, url: Any) -> Problems:
    if not isinstance(url, str):
        return []
    wrong = url_problem(url)
    if wrong:
        return [("url", wrong)]
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    kind, kind_of_name = kind_of(unquote(parts.path)), kind_of(name)
    if not kind and unquote(parts.path).lower().endswith(_OTHERS):
        return [("url", "its path must end in %s, or have no archive extension" % _KNOWN)]
    if kind and kind_of_name and kind != kind_of_name:
        return [
            (
                "url",
                "it is a %s archive, but the name of the resource has the extension of a %s archive"
                % (kind, kind_of_name),
            )
        ]
    return []


def _of_limits(properties: Dict[str, Any]) -> Problems:
    problems: Problems = []
    parsers = (
        ("download_timeout", positive_seconds),
        ("extract_timeout", positive_seconds),
        ("extract_max_size", parse_size),
    )
    for key, parse in parsers:
        if isinstance(properties.get(key), str):
            problems += [(key, message) for message in rules.of_text(parse, properties[key])]
    return problems
