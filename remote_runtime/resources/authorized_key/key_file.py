"""The file with a user's keys, and the attributes that sshd requires to read it (target)."""

from typing import List, NamedTuple, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import Node, refuse
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.system.account_files import User

USUAL = ".ssh/authorized_keys"
ACCEPTED = "accepted by sshd"
_READABLE_BY_ALL = 0o004
_OF_OTHERS = 0o022  # bits with which somebody else could put keys in


class Place(NamedTuple):
    """The location of the keys: ``directory`` and ``file`` are the current nodes; ``own``: they are
    in the home directory of the ``user``."""

    user: User
    path: str
    own: bool
    directory: Optional[Node]
    file: Optional[Node]

    @property
    def parent(self) -> str:
        """The path of the directory."""
        return self.path.rpartition("/")[0] or "/"

    @property
    def manages_parent(self) -> bool:
        """Whether the directory exists only for this purpose, unlike a home directory."""
        return self.own and self.parent != _clean(self.user.home)

    @property
    def is_hidden(self) -> bool:
        """Whether the file belongs to another user and is not readable by all."""
        file = self.file
        return file is not None and file.uid != self.user.uid and not file.mode & _READABLE_BY_ALL

    def refusals(self) -> List[str]:
        """Return the reasons why sshd would not read the keys, based on the attributes of the file
        and its directory.
        """
        result = []
        if self.manages_parent and self.directory is not None:
            result.append(_refusal(self.parent, self.directory, self.user, 0o500))
        if self.file is not None:
            result.append(_refusal(self.path, self.file, self.user, 0o400))
        return [refusal for refusal in result if refusal]


def path_of(template: str, user: User) -> str:
    """The path that results from a setting such as sshd's AuthorizedKeysFile."""
    words = {"%%": "%", "%h": _clean(user.home), "%u": user.name}
    path, at = "", 0
    while at < len(template):
        pair = template[at : at + 2]
        path += words.get(pair, template[at])
        at += 2 if pair in words else 1
    return path if path.startswith("/") else "%s/%s" % (_clean(user.home).rstrip("/"), path)


def place_of(host: HostReader, user: User, template: str) -> Place:
    """The place of a user's keys. ``ResourceError`` if it is a symlink or not a file."""
    path = path_of(template or USUAL, user)
    home = _clean(user.home)
    own = path.startswith(home.rstrip("/") + "/")
    place = Place(user, path, own, None, None)
    if not template and host.files.stat(home) is None:
        return place
    directory = host.files.lstat(place.parent)
    if directory is not None and directory.kind == "symlink":
        if not template:
            _refuse_link(place.parent, directory)
        directory = host.files.stat(place.parent)
    if directory is None:
        return place
    if directory.kind != "directory":
        refuse(place.parent, directory)
    file = host.files.lstat(path)
    if file is not None and file.kind == "symlink":
        _refuse_link(path, file)
    if file is not None and file.kind != "file":
        refuse(path, file)
    return place._replace(directory=directory, file=file)


def put(host: Host, place: Place, data: Optional[bytes]) -> None:
    """Write the file with the attributes that sshd requires; ``data`` is None to change only the
    attributes. Attributes that sshd accepts are not changed."""
    user = place.user
    if user.uid < 0 or user.gid < 0:
        raise Unknowable("the uid of %s is not known until it is created" % user.name)
    _prepare_parent(host, place)
    node = place.file
    mode, uid, gid = (0o600, user.uid, user.gid) if place.own else (0o644, -1, -1)
    if node is not None and not _refusal(place.path, node, user, 0o400):
        mode, uid, gid = node.mode, node.uid, node.gid
    elif node is not None and data is None:
        host.files.set_attributes(place.path, mode, uid, gid)
    if data is not None:
        host.files.write(place.path, data, mode=mode, uid=uid, gid=gid)


def _prepare_parent(host: Host, place: Place) -> None:
    user, parent = place.user, place.parent
    if place.own and host.files.stat(_clean(user.home)) is None:
        raise ResourceError(
            "the home directory %s of the user %s does not exist" % (user.home, user.name),
            kind="resource.missing",
            hint="create it in an earlier resource, such as a user with create_home: true",
        )
    if place.directory is None:
        if place.own:
            host.files.mkdir(parent, 0o700, user.uid, user.gid)
        else:
            host.files.mkdir(parent, 0o755)
    elif place.manages_parent and _refusal(parent, place.directory, user, 0o500):
        host.files.set_attributes(parent, 0o700, user.uid, user.gid)


def _refusal(path: str, node: Node, user: User, needed: int) -> str:
    """Return the reason why sshd would not use it, "" if it would; ``needed`` are the permission
    bits that its owner needs to read it.
    """
    if node.uid not in (0, user.uid):
        return "%s belongs to another user, with the uid %d" % (path, node.uid)
    if node.mode & _OF_OTHERS:
        return "%s is writable by others (mode %04o)" % (path, node.mode)
    wanted = needed if node.uid == user.uid else needed >> 6
    if node.mode & wanted != wanted:
        return "%s cannot be read by %s (mode %04o)" % (path, user.name, node.mode)
    return ""


def _refuse_link(path: str, node: Node) -> None:
    raise ResourceError(
        "%s is a symlink to %s" % (path, node.target),
        kind="resource.file.kind",
        hint="set path to the file that it points to",
    )


def _clean(home: str) -> str:
    return home.rstrip("/") or "/"
