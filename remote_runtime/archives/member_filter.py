"""Limits on the content of an archive (target): no member and no link may lead outside its
destination."""

from typing import Any, Dict, Generator, List, NamedTuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import MAX_LINKS

BLOCK = 256 << 10
_MAX_LENGTH = 4095  # bytes of a path on Linux

FILE, DIRECTORY, SYMLINK, HARDLINK = "file", "directory", "symlink", "hardlink"


class Member(NamedTuple):
    """One entry of an archive; ``kind`` is one of the four, or names a kind that is refused.

    ``link`` is the target of a link; ``mtime`` is in seconds; ``content`` opens a file's content.
    """

    name: str
    kind: str
    size: int
    mode: int
    mtime: float
    link: str
    content: Any


Members = Generator[Member, None, None]


def refusal(archive: str, message: str, hint: str = "") -> ResourceError:
    """Return the error for an archive that is not extracted."""
    return ResourceError(
        "refusing to extract %s: %s" % (archive, message),
        kind="resource.archive.refused",
        hint=hint,
    )


class _Link(NamedTuple):
    """The target of a symlink: the number of directories up from its own, then the path
    from there.
    """

    up: int
    steps: List[str]


class MemberFilter(object):
    """Decides on the members of one archive, in order, and stores which were admitted.

    ``kinds`` maps each admitted path, relative and clean, to its kind; the directories on the way
    to a member are included. A member below a symlink of the archive is extracted to the link's
    target.
    """

    def __init__(self, archive: str, max_size: int, max_members: int) -> None:
        self.kinds: Dict[str, str] = {}
        self._links: Dict[str, _Link] = {}
        self._archive = archive
        self._max_size = max_size
        self._max_members = max_members
        self._size = 0
        self._count = 0

    def admit(self, member: Member) -> str:
        """Return the clean path of a member, without symlinks of the archive above it; "" for the
        root itself. ``ResourceError`` if it is refused.
        """
        if member.size < 0:
            raise self._refused("member %r has a negative size" % member.name)
        self._count += 1
        self._size += member.size
        if self._count > self._max_members:
            hint = "raise extract_max_members if this is expected"
            raise self._refused("it has more than %d members" % self._max_members, hint)
        if self._size > self._max_size:
            hint = "raise extract_max_size if this is expected"
            raise self._refused("it extracts to more than %d bytes" % self._max_size, hint)
        if member.kind not in (FILE, DIRECTORY, SYMLINK, HARDLINK):
            raise self._refused("member %r is %s" % (member.name, member.kind))
        path = self._path(member)
        if path:
            path = self._resolved(path, member)
            self._enter(path, member)
        elif member.kind != DIRECTORY:
            raise self._refused("member %r has no name" % member.name)
        return path

    def _refused(self, message: str, hint: str = "") -> ResourceError:
        return refusal(self._archive, message, hint)

    def _path(self, member: Member) -> str:
        if len(member.name) > _MAX_LENGTH:
            raise self._refused("the path of member %r... is too long" % member.name[:100])
        if member.name.startswith("/"):
            raise self._refused("member %r has an absolute path" % member.name)
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if ".." in parts:
            raise self._refused("the path of member %r leads outside with .." % member.name)
        if "\0" in member.name:
            raise self._refused("the path of member %r contains a NUL byte" % member.name)
        return "/".join(parts)

    def _enter(self, path: str, member: Member) -> None:
        parts = path.split("/")
        for end in range(1, len(parts)):
            self._claim("/".join(parts[:end]), DIRECTORY, member)
        if member.kind == SYMLINK:
            self._symlink(parts, member)
        if member.kind == HARDLINK and self.kinds.get(self.linked(member)) != FILE:
            raise self._refused(
                "member %r is a hard link to %r, which is not an earlier file in the archive"
                % (member.name, member.link)
            )
        self._claim(path, FILE if member.kind == HARDLINK else member.kind, member)

    def _resolved(self, path: str, member: Member) -> str:
        """Return a path with the archive's symlinks above it resolved; none of them leads
        outside."""
        if not self._links:
            return path
        *above, name = path.split("/")
        done: List[str] = []
        followed = 0
        while above:
            done.append(above.pop(0))
            link = self._links.get("/".join(done))
            if link is None:
                continue
            followed += 1
            if followed > MAX_LINKS or len(done) + len(above) + len(link.steps) > _MAX_LENGTH:
                raise self._refused("the path of member %r has too many symlinks" % member.name)
            done.pop()
            del done[len(done) - link.up :]
            above = link.steps + above
        resolved = "/".join([*done, name])
        if len(resolved) > _MAX_LENGTH:
            raise self._refused("the path of member %r... is too long" % member.name[:100])
        return resolved

    def _claim(self, path: str, kind: str, member: Member) -> None:
        there = self.kinds.setdefault(path, kind)
        if there != kind:
            raise self._refused(
                "member %r requires %s to be a %s, but another member makes it a %s"
                % (member.name, path, kind, there)
            )

    def linked(self, member: Member) -> str:
        """Return the path of the member that a hard link names."""
        return self._resolved(self._path(member._replace(name=member.link)), member)

    def _symlink(self, parts: List[str], member: Member) -> None:
        """Admit a symlink: only leading .. and no more than lead to the root, so by induction no
        chain of links leads outside.
        """
        target = member.link
        if not target or len(target) > _MAX_LENGTH or "\0" in target:
            raise self._refused("member %r is a broken symlink" % member.name)
        steps = [step for step in target.split("/") if step not in ("", ".")]
        up = 0
        while up < len(steps) and steps[up] == "..":
            up += 1
        if target.startswith("/") or up >= len(parts) or ".." in steps[up:]:
            raise self._refused(
                "member %r is a symlink to %r, which may lead outside" % (member.name, target)
            )
        self._links["/".join(parts)] = _Link(up, steps[up:])
