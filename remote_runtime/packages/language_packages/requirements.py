"""Requirements files, as pip reads them, and the installed packages among them (target)."""

import os
import re
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Set, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.language_packages.names import normalized
from remote_runtime.packages.versions import python as versions

_NAME = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*(.*)\Z", re.S
)
_HASH = re.compile(r"\s--hash[= ]")
_OPTION = re.compile(r"\s--?[A-Za-z].*\Z", re.S)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_TOKEN = re.compile(r"\s*(\(|\)|[a-z_.]+|'[^']*'|\"[^\"]*\"|===|==|~=|!=|<=|>=|<|>)")
_DEEPEST = 10  # packages whose extras need one another
_MAX_FILES = 100  # that name one another
_MAX_REQUIREMENTS = 10_000
_MAX_LENGTH = 2_000  # characters of a requirement, without its hashes
_MAX_NESTING = 50
_MAX_NEEDS = 200_000  # dependencies of packages that are looked at
_NEEDS_OF_FILE = 100  # reading the metadata of a package counts as this many dependencies

Read = Callable[[str], str]


class Requirement(NamedTuple):
    """One requirement. ``specifiers`` such as ``>=1,<2``; ``marker`` is its condition, ""
    for none.
    """

    name: str
    extras: Tuple[str, ...] = ()
    specifiers: str = ""
    marker: str = ""
    has_hash: bool = False
    line: str = ""

    @property
    def exact(self) -> str:
        """The only version that it allows; "" if it allows several."""
        match = re.match(r"\s*={2,3}\s*([^\s,*]+)\s*\Z", self.specifiers)
        return match.group(1) if match else ""


def read(text: str, where: str, reader: Read) -> List[Requirement]:
    """Return the requirements of a text and of the files that it names. ``where`` is its path, ""
    for none; ``reader`` reads a file. ``ResourceError`` for a line that does not name a package.

    Users may write these files: each is read once, and their number and lengths are limited.
    """
    return _read(text, reader, (where,), {where})


def _read(text: str, reader: Read, paths: Tuple[str, ...], files: Set[str]) -> List[Requirement]:
    """The requirements of the text of the last of ``paths``, of which each includes the next;
    ``files`` were read before.
    """
    where = paths[-1]
    requirements: List[Requirement] = []
    for line in _lines(text):
        other = re.match(r"(?:-r|--requirement)[ =]?\s*(\S+)\Z", line)
        if other is not None:
            if not where and not other.group(1).startswith("/"):
                raise _wrong(where, line, "use an absolute path on the host, or a single file")
            path = os.path.normpath(os.path.join(os.path.dirname(where), other.group(1)))
            if path in paths:
                raise _wrong(where, line, "the requirements files include each other")
            if path not in files:
                files.add(path)
                if len(files) > _MAX_FILES:
                    raise _wrong(where, line, "there are more than %d files" % _MAX_FILES)
                requirements += _read(reader(path), reader, (*paths, path), files)
        elif line.startswith(("-e", "--editable")):
            raise _wrong(where, line, "ccm cannot tell whether it is installed")
        elif not line.startswith("-"):
            requirements.append(_requirement(line, where))
        if len(requirements) > _MAX_REQUIREMENTS:
            raise _wrong(where, line, "there are more than %d requirements" % _MAX_REQUIREMENTS)
    return requirements


def _lines(text: str) -> List[str]:
    joined = re.sub(r"\\\r?\n", " ", text)
    lines = [_COMMENT.sub("", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line]


def _requirement(line: str, where: str) -> Requirement:
    hashed = _HASH.search(line) is not None
    plain = _OPTION.sub("", line)
    try:
        return parsed(plain)._replace(has_hash=hashed, line=plain)
    except ValueError as error:
        raise _wrong(where, line, str(error)) from error


def parsed(line: str) -> Requirement:
    """Split ``name[extra]>=1; marker`` into its parts; ``ValueError``."""
    if len(line) > _MAX_LENGTH:
        raise ValueError("expected at most %d characters" % _MAX_LENGTH)
    before, _, marker = line.partition(";")
    if " @ " in line:
        before, _, marker = line.partition(" ; ")
    match = _NAME.match(before.strip())
    if match is None:
        raise ValueError("expected the name of a package, optionally with versions")
    name, extras, rest = match.groups()
    rest = rest.strip()
    if rest.startswith("@"):
        rest = ""  # of one address, regardless of its version
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1]
    versions.parse(rest)
    wanted = tuple(normalized(one.strip()) for one in (extras or "").split(",") if one.strip())
    return Requirement(name, wanted, rest, marker.strip())


def _wrong(where: str, line: str, reason: str) -> ResourceError:
    excerpt = line if len(line) <= 80 else line[:77] + "..."
    return ResourceError(
        "%s: %r: %s" % (where or "requirements", excerpt, reason),
        kind="package.requirements",
        hint="write lines such as requests==2.31.0",
    )


class Environment(NamedTuple):
    """An environment: ``installed`` returns the version of a package by its name, "" for none,
    and ``needs`` returns its lines about dependencies. ``values`` are the values of names in
    markers.
    """

    installed: Callable[[str], str]
    needs: Callable[[str], Sequence[str]]
    values: Mapping[str, str]


def unmet(wanted: Sequence[Requirement], environment: Environment) -> List[Requirement]:
    """Return the requirements that are not met. ``ResourceError``."""
    extras = _Extras(environment)
    return [one for one in wanted if not extras.are_met(one)]


class _Extras(object):
    """Checks requirements, and what their extras need: each extra of a package once."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._known: Dict[Tuple[str, str], bool] = {}
        self._left = _MAX_NEEDS

    def are_met(self, one: Requirement, depth: int = 0) -> bool:
        """Return whether a package has a matching version, and what its extras need."""
        if depth > _DEEPEST or not applies(one.marker, self._environment.values):
            return True
        name = normalized(one.name)
        version = self._environment.installed(name)
        if not version or not versions.satisfies(version, one.specifiers):
            return False
        return all(self._is_there(name, extra, depth) for extra in one.extras)

    def _is_there(self, name: str, extra: str, depth: int) -> bool:
        key = name, extra
        if key not in self._known:
            self._known[key] = True  # for packages that need each other
            needed = self._needed(name, extra)
            self._known[key] = all(self.are_met(one, depth + 1) for one in needed)
        return self._known[key]

    def _needed(self, name: str, extra: str) -> Iterator[Requirement]:
        lines, values = self._environment.needs(name), self._environment.values
        more = dict(values, extra=extra)
        self._left -= _NEEDS_OF_FILE + len(lines)
        for line in lines:
            one = _requirement(line, "the metadata of %s" % name)
            if self._left < 0:
                raise _wrong("", line, "the extras need too many packages")
            always = "extra" not in one.marker or applies(one.marker, values)
            if not always and applies(one.marker, more):
                yield one._replace(marker="")


def applies(marker: str, values: Mapping[str, str]) -> bool:
    """Return whether a condition such as ``python_version < "3.8"`` is met. ``ResourceError``."""
    if not marker:
        return True
    if len(marker) > _MAX_LENGTH or marker.count("(") > _MAX_NESTING:
        raise _wrong("", marker, "the condition is too long")
    tokens: List[str] = []
    at = 0
    text = marker.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong("", marker, "pip does not support this condition")
        tokens.append(match.group(1))
        at = match.end()
        while at < len(text) and text[at] == " ":
            at += 1
    parser = _Marker(tokens, dict(values), marker)
    is_met = parser.either()
    if parser.tokens:
        raise _wrong("", marker, "pip does not support this condition")
    return is_met


class _Marker(object):
    """Evaluates a condition from left to right."""

    def __init__(self, tokens: List[str], values: Dict[str, str], text: str) -> None:
        self.tokens, self._values, self._text = tokens, values, text

    def either(self) -> bool:
        """Evaluate conditions joined by ``or``."""
        result = self._both()
        while self.tokens[:1] == ["or"]:
            self.tokens.pop(0)
            other = self._both()
            result = result or other
        return result

    def _both(self) -> bool:
        result = self._one()
        while self.tokens[:1] == ["and"]:
            self.tokens.pop(0)
            other = self._one()
            result = result and other
        return result

    def _one(self) -> bool:
        if self.tokens[:1] == ["("]:
            self.tokens.pop(0)
            result = self.either()
            if self._next() != ")":
                raise self._wrong()
            return result
        left = self._value()
        operator = self._next()
        if operator == "not":
            operator += " " + self._next()
        right = self._value()
        return self._compared(left, operator, right)

    def _next(self) -> str:
        if not self.tokens:
            raise self._wrong()
        return self.tokens.pop(0)

    def _value(self) -> str:
        token = self._next()
        if token[0] in "'\"":
            return token[1:-1]
        if token not in self._values:
            raise self._wrong()
        return self._values[token]

    def _compared(self, left: str, operator: str, right: str) -> bool:
        if operator in ("in", "not in"):
            return (left in right) == (operator == "in")
        specifier = operator + right
        try:
            if versions.key(left) is not None:
                return versions.satisfies(left, specifier)
        except ValueError:
            pass
        if operator in ("==", "!=", "==="):
            return (left == right) == (operator != "!=")
        if operator in ("<", ">", "<=", ">="):
            order = (left > right) - (left < right)
            return order in {"<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}[operator]
        raise self._wrong()

    def _wrong(self) -> ResourceError:
        return _wrong("", self._text, "pip does not support this condition")


def values_of(version: str, full_version: str = "") -> Dict[str, str]:
    """Return the values of markers on this host for a version of Python such as ``3.11``, or
    ``3.11.2`` if it is known.
    """
    full = full_version or version
    host = os.uname()
    return {
        "python_version": version,
        "python_full_version": full,
        "os_name": "posix",
        "os.name": "posix",
        "sys_platform": "linux",
        "sys.platform": "linux",
        "platform_system": host.sysname,
        "platform_machine": host.machine,
        "platform.machine": host.machine,
        "platform_release": host.release,
        "platform_version": host.version,
        "platform.version": host.version,
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "python_implementation": "CPython",
        "implementation_version": full,
        "extra": "",
    }


def needs_of(metadata: str) -> List[str]:
    """Return the dependencies that a package lists in its METADATA."""
    head = metadata.split("\n\n")[0]
    lines = re.findall(r"(?m)^Requires-Dist:\s*(.*)$", head)
    return [line.strip() for line in lines]
