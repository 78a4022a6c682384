"""What an archive resource may say beyond its schema (both sides)."""

from typing import Any, Dict, List, Tuple

from remote_runtime.text import duration
from remote_runtime.validation import rules

Found = List[Tuple[str, str]]

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
# What is another kind of archive, or packed alone; any other ending tells nothing of the kind.
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
_TOKEN = "!#$%&'*+-.^_`|~"  # what a header's name may hold beside letters and digits
_OURS = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")


def kind_of(path: str) -> str:
    """The kind of archive that a path names, such as tar.gz or zip; "" for none that is known."""
    for ending, kind in _ENDINGS:
        if path.lower().endswith(ending) and not path.lower().endswith("/" + ending):
            return kind
    return ""


def parse_size(text: str) -> int:
    """Return the bytes of a size such as "512MiB". ``ValueError`` says what was expected."""
    for unit, factor in _UNITS.items():
        number = text[: -len(unit)]
        if text.endswith(unit) and number.isdigit():
            return int(number) * factor
    raise ValueError("%r is not a size such as 512MiB or 10GiB" % text)


def problems(name: str, properties: Dict[str, Any]) -> Found:
    """Every broken rule as (property, message); no message repeats what could be a credential."""
    found = [("name", message) for message in rules.of_path(name)]
    if not kind_of(name):
        found.append(("name", "the name must end in " + _KNOWN))
    found.extend(_of_url(name, properties.get("url")))
    for key in ("extract_parent", "creates"):
        if isinstance(properties.get(key), str):
            found.extend((key, message) for message in rules.of_path(properties[key]))
    found.extend(("creates", message) for message in rules.of_creates(properties.get("creates")))
    found.extend(rules.of_tries(properties))
    if properties.get("cleanup") is True:
        for key in ("extract_parent", "creates"):
            if properties.get(key) is None:
                found.append(("cleanup", "cleanup requires %s" % key))
    found.extend(_of_access(properties))
    found.extend(_of_limits(properties))
    return found


def _of_url(name: str, url: Any) -> Found:
    if not isinstance(url, str):
        return []
    from urllib.parse import unquote, urlsplit

    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        return [("url", "it contains a blank or a control character; write %20 for a blank")]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return [("url", "it is not a valid URL")]
    if any(char in parts.netloc.rpartition("@")[0] for char in "@'\""):
        # What masks credentials looks for their end.
        return [("url", "write %40, %27 and %22 for @, ' and \" in its credentials")]
    if parts.scheme not in ("http", "https"):
        return [("url", "it must start with http:// or https://")]
    if not host:
        return [("url", "it has no host")]
    kind, named = kind_of(unquote(parts.path)), kind_of(name)
    if not kind and unquote(parts.path).lower().endswith(_OTHERS):
        return [("url", "its path must end in %s, or have no extension of an archive" % _KNOWN)]
    if kind and named and kind != named:
        return [
            ("url", "it is a %s archive, but the resource's name is a %s archive" % (kind, named))
        ]
    return []


def _of_access(properties: Dict[str, Any]) -> Found:
    found: Found = []
    headers = properties.get("headers")
    headers = headers if isinstance(headers, dict) else {}
    user = properties.get("username")
    if properties.get("password") is not None and user is None:
        found.append(("password", "password requires username"))
    if isinstance(user, str) and ":" in user:
        found.append(("username", "basic authentication does not allow a colon in it"))
    if user is not None and "authorization" in [str(key).lower() for key in headers]:
        found.append(("headers", "an Authorization header and username are mutually exclusive"))
    for key, value in headers.items():
        found.extend(_of_header(str(key), value))
    return found


def _of_header(key: str, value: Any) -> Found:
    if not key or any(not (c in _TOKEN or (c.isalnum() and ord(c) < 128)) for c in key):
        return [("headers", "%r is not a valid header name" % key)]
    if key.lower() in _OURS:
        return [("headers", "%s is set by ccm itself" % key)]
    text = value if isinstance(value, str) else ""
    if any((ord(c) < 32 and c != "\t") or ord(c) == 127 or ord(c) > 255 for c in text):
        return [("headers", "the value of %s contains a character that headers do not allow" % key)]
    return []


def _of_limits(properties: Dict[str, Any]) -> Found:
    found: Found = []
    parsers = (
        ("download_timeout", _longer_than_nothing),
        ("extract_timeout", _longer_than_nothing),
        ("extract_max_size", parse_size),
    )
    for key, parse in parsers:
        if isinstance(properties.get(key), str):
            found += [(key, message) for message in rules.of_text(parse, properties[key])]
    return found


def _longer_than_nothing(text: str) -> float:
    seconds = duration.parse(text)
    if seconds <= 0:
        raise ValueError("it must not be empty")
    return seconds
