"""Expectations of paths for several checks (controller)."""

from orchestrator.verify.expectation import Expectation, Host, answer, equal
from orchestrator.verify.subject import Subject

SHOWN = 16  # characters of a hash

_KINDS = {
    "regular file": "a file",
    "regular empty file": "a file",
    "directory": "a directory",
    "symbolic link": "a symlink",
    "fifo": "a FIFO",
    "socket": "a socket",
}
_NOTHING = ("No such file or directory", "Not a directory")
"""The host's messages for a missing path; any other message means that the check failed."""


def kind(host: Host, path: str, follow: bool = False) -> str:
    """The kind of a path as text; with ``follow``, that of a symlink's target.

    RuntimeError if the host could not read it, which testinfra's own ``exists`` reports as false.
    """
    result = host.run(f"stat -{'L' * follow}c %%F -- %s", path)
    output = result.stderr.strip()
    kind_name = str(result.stdout).strip()
    if result.rc == 0 and kind_name:
        return _KINDS.get(kind_name, kind_name)
    if output.endswith(_NOTHING):
        return "nothing"
    raise RuntimeError(output or f"stat exited with {result.rc}")


def file_hash(host: Host, path: str, program: str = "sha256sum") -> str:
    """The hash of a regular file; RuntimeError if there is no readable one.

    Nothing else is opened, because reading a FIFO would block. The name is not part of the output,
    because sha256sum marks names with a backslash.
    """
    digest = answer(
        host, f"test -f %s && {program} <%s", path, path,
        problem=f"there is no file to read at {path}", valid=lambda text: bool(text.split()),
    )  # fmt: skip
    return digest.split()[0]


def uid_and_mode(host: Host, path: str, follow: bool = False) -> tuple[str, str]:
    """The number of the owner, and the mode in octal digits. RuntimeError."""
    command = f"stat {'-Lc' if follow else '-c'} '%%u %%a' -- %s"
    uid, mode = answer(host, command, path, valid=lambda text: len(text.split()) == 2).split()
    return uid, mode


def of_kind(path: str, wanted: str, what: str = "type", follow: bool = False) -> Expectation:
    """Expect a path of one kind, in the terms of ``kind``; if it has another kind, nothing else is
    reported.
    """

    def find(host: Host) -> str:
        """The kind of the path."""
        return kind(host, path, follow)

    def tell(host: Host, found: str) -> str:
        """The kind in words, with a note on a dangling symlink."""
        lost = found == "a symlink" and kind(host, path, follow=True) == "nothing"
        return f"{found} to a missing target" if lost else found

    return equal(what, wanted, find)._replace(tell=tell, gate=True)


def absent(path: str, what: str = "path") -> list[Expectation]:
    """Expect that the path does not exist, not even as a dangling symlink."""
    return [of_kind(path, "nothing", what)]


def exists(path: str, what: str) -> Expectation:
    """Expect that the path exists, as any kind."""
    return Expectation(
        what,
        path,
        find=lambda host: kind(host, path, follow=True),
        holds=lambda found: bool(found != "nothing"),
        tell=lambda host, _: "nothing",
        gate=True,
    )


def regular(path: str, what: str = "type") -> list[Expectation]:
    """Expect a regular file, not a symlink to one."""
    return [of_kind(path, "a file", what)]


def directory(path: str, what: str = "type") -> list[Expectation]:
    """Expect a directory, not a symlink to one."""
    return [of_kind(path, "a directory", what)]


def inside(path: str) -> str:
    """The directory itself if its path is a symlink."""
    return path.rstrip("/") + "/."


def mode_and_mask(text: str, is_directory: bool) -> tuple[int, int]:
    """The mode as a number, and the bits to compare.

    A user who may read or write a directory may also enter it. Its setuid, setgid and sticky bits
    count only if the mode has a fourth digit, or a fifth.
    """
    digits = text.lower().removeprefix("0o")
    mode = int(digits, 8)
    if not is_directory:
        return mode, 0o7777
    for shift in (0, 3, 6):
        if mode >> shift & 0o6:
            mode |= 0o1 << shift
    return mode, 0o7777 if mode > 0o777 or len(digits) > 4 else 0o777


def of_mode(path: str, wanted: int, mask: int = 0o7777) -> Expectation:
    """The permissions of a path; bits outside of the ``mask`` do not count."""
    return equal("mode", wanted, lambda host: host.file(path).mode & mask, "{:04o}".format)


def ownership(subject: Subject, path: str = "") -> list[Expectation]:
    """Expect the owner and group of a path, or of the subject's path; a value with only digits is
    an ID.
    """
    path = path or subject.name
    owner, group = subject.text("owner"), subject.text("group")
    expectations = []
    if owner.isdecimal():
        expectations.append(equal("owner", int(owner), lambda host: host.file(path).uid))
    elif owner:
        expectations.append(equal("owner", owner, lambda host: host.file(path).user))
    if group.isdecimal():
        expectations.append(equal("group", int(group), lambda host: host.file(path).gid))
    elif group:
        expectations.append(equal("group", group, lambda host: host.file(path).group))
    return expectations


def content(path: str, sha256: str, what: str = "content") -> Expectation:
    """Expect the content with this hash."""
    wanted = sha256.lower()
    return equal(what, wanted, lambda host: file_hash(host, path), shown_hash)


def shown_hash(digest: object) -> str:
    """The first digits of a hash, enough to distinguish two."""
    return f"SHA-256 {str(digest)[:SHOWN]}…"
