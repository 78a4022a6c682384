"""The file type (target; ``check`` on both sides)."""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from remote_runtime.base import Change, Missing, Properties
from remote_runtime.changes import differs_by_size
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import modes, removal, replacement
from remote_runtime.tasks import ATTRIBUTES, BlobNeed, NewContent, PathTaskStateType, Task
from remote_runtime.text.shell_words import split

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.host.file_ports import NewFile, Node
    from remote_runtime.host.ports import Host, HostReader
    from remote_runtime.resources.file.backups import Backup
    from remote_runtime.resources.file.directory_contents import Below

_OWN = ("owner", "group", "mode")
_CREATED = "Would have created the file"  # also for content that differs
_EMPTY = "Would have created an empty file with requested attributes"

Found = Optional[Mapping[str, Any]]


class Wanted(NamedTuple):
    """The desired attributes of a file; -1 for an account that does not exist (yet)."""

    uid: int
    gid: int
    mode: int


class Resource(PathTaskStateType):
    """One file or directory."""

    inputs = ("source",)

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self.tree = self.ensure == "directory"
        self._unmet: List[Missing] = []  # raised before anything changes

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.file import rules

        return rules.problems(name, properties)

    @classmethod
    def contents(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """See the base class. Empty with ``replace: false``, where another resource may change the
        content.
        """
        has_content = any(properties.get(key) is not None for key in ("content", "source"))
        once = properties.get("replace") is False  # only where the file is missing
        stays = properties.get("ensure") != "absent"
        return [(name, True)] if has_content and stays and not once else []

    # -- what is there ----------------------------------------------------------------------------

    def read(self, host: "HostReader") -> Found:
        """See the base class. A symlink to a directory counts as one if a directory is desired."""
        node = host.files.lstat(self.name)
        if node is not None and node.kind == "symlink" and self.ensure == "directory":
            behind = host.files.stat(self.name)
            node = behind if behind is not None and behind.kind == "directory" else node
        return None if node is None else {"node": node, "below": self._below(host, node)}

    def _below(self, host: "HostReader", node: "Node") -> "Optional[Below]":
        """Return the contents of the directory, if they are managed."""
        properties = self.properties
        if not self.tree or node.kind != "directory":
            return None
        if True not in (properties.get("recurse"), properties.get("purge")):
            return None
        from remote_runtime.resources.file.directory_contents import Below

        return Below(host, self.name, properties, node)

    def state_of(self, state: Found) -> str:
        if state is None:
            return "absent"
        return "directory" if state["node"].kind == "directory" else "present"

    def node(self, host: "HostReader", state: Found) -> "Optional[Node]":
        return state["node"] if state is not None else None

    def observed(self, host: "HostReader", state: Found) -> Any:
        """See the base class. Return the attributes; also the content of a file that will be
        removed, and the differences in a directory.
        """
        node = self.node(host, state)
        if node is None:
            return {"ensure": None}
        seen = {"ensure": node.kind, "mode": node.mode, "owner": node.uid, "group": node.gid}
        if self.ensure == "absent" and node.kind == "file":
            seen["content"] = "%d bytes of %d" % (node.size, node.mtime)
            if not differs_by_size(node.size, None):
                seen["content"] = host.files.digest(self.name, known=node)
        return dict(seen, **self.left(host, state))

    def compared(self, host: "HostReader", state: Found) -> Sequence[str]:
        """See the base class. Content that the resource does not manage may change."""
        size = None if self.properties.get("replace") is False else self._size(host)
        node = self.node(host, state)
        if size is None:
            return [key for key in ATTRIBUTES if key not in ("size", "checksum")]
        if node is not None and differs_by_size(node.size, size):
            return [key for key in ATTRIBUTES if key != "checksum"]
        return ATTRIBUTES

    def _size(self, host: "HostReader") -> Optional[int]:
        """The size of the content, -1 for a source that does not exist, None for no content."""
        for key in ("content", "source"):
            value = self.properties.get(key)
            if isinstance(value, dict):
                return int(value["size"])
            if value is not None and key == "content":
                return len(str(value).encode("utf-8", "replace"))
            if value is not None:
                source = host.files.stat(str(value))
                return -1 if source is None else source.size
        return None

    def left(self, host: "HostReader", state: Found = None) -> Mapping[str, Any]:
        """See the base class. Return the differences from the desired state in a directory, if its
        contents are managed.
        """
        below = state["below"] if state is not None else None
        if below is None:
            return {}
        uid = host.accounts.uid(str(self.properties.get("owner", "")))
        gid = host.accounts.gid(str(self.properties.get("group", "")))
        differences: Mapping[str, Any] = below.differences(
            -1 if uid is None else uid, -1 if gid is None else gid
        )
        return differences

    # -- what is wanted ---------------------------------------------------------------------------

    def _wanted(self, host: "HostReader", node: "Optional[Node]") -> Wanted:
        """Return the attributes; omitted ones, which ``ccm ensure`` allows, are taken from the
        existing path.
        """
        properties = self.properties
        missing_keys = [key for key in _OWN if properties.get(key) is None]
        if missing_keys and (node is None or node.kind not in ("file", "directory")):
            words = (
                [", ".join(missing_keys[:-1]), missing_keys[-1]]
                if missing_keys[1:]
                else missing_keys
            )
            raise ResourceError(
                "%s does not exist yet: set its %s" % (self.name, " and ".join(words)),
                hint="use %s" % " ".join("--%s" % key for key in missing_keys),
            )
        owner = str(properties.get("owner") or (node.uid if node else -1))
        group = str(properties.get("group") or (node.gid if node else -1))
        uid = self._number(host, "user", owner)
        gid = self._number(host, "group", group)
        return Wanted(uid, gid, self._wanted_mode(node))

    def _number(self, host: "HostReader", kind: str, name: str) -> int:
        """Return the number of a user or group, -1 for a missing one."""
        try:
            return host.accounts.number(kind, name)
        except Missing as missing:
            self._unmet.append(missing)
            return -1

    def _wanted_mode(self, node: "Optional[Node]") -> int:
        given = self.properties.get("mode")
        if given is None:
            return node.mode if node is not None else 0
        mode = modes.parse_mode(str(given))
        if not self.tree:
            return mode
        # /tmp keeps its special bits, unless the mode specifies them.
        keeps_special_bits = node is not None and modes.leaves_special_bits(str(given))
        return modes.directory_mode(mode) | (
            node.mode & 0o7000 if node and keeps_special_bits else 0
        )

    def _unless_missing(self, look: Callable[[], Any]) -> Any:
        """Return the result of ``look``, None if something is missing."""
        try:
            return look()
        except Missing as missing:
            self._unmet.append(missing)
            return None

    def _attributes(self, host: "HostReader", node: "Node", want: Wanted) -> List[Change]:
        accounts, properties = host.accounts, self.properties
        changes = []
        if node.uid != want.uid:
            before = accounts.user_name(node.uid) or str(node.uid)
            changes.append(Change("owner", before, str(properties["owner"])))
        if node.gid != want.gid:
            before = accounts.group_name(node.gid) or str(node.gid)
            changes.append(Change("group", before, str(properties["group"])))
        if node.mode != want.mode:
            changes.append(Change("mode", "%04o" % node.mode, "%04o" % want.mode))
        return changes

    def _stays(self, node: "Optional[Node]") -> bool:
        """Return whether the existing path keeps its content, regardless of its kind."""
        return node is not None and self.properties.get("replace") is False

    def _content(self, host: "HostReader") -> "Optional[Content]":
        """The desired content, None if only attributes are managed. ``Missing`` if unknown."""
        for key in ("content", "source"):
            value = self.properties.get(key)
            if isinstance(value, dict):
                return host.contents.of(value)
            if value is not None:
                text = str(value)
                return host.contents.text(text) if key == "content" else host.contents.local(text)
        return None

    # -- what there is to do ----------------------------------------------------------------------

    def tasks(self, host: "HostReader", state: Found) -> List[Task]:
        """See the base class. One task for a file or a new directory. For a tree, the tasks of the
        paths that differ.
        """
        self._unmet = []
        node = self.node(host, state)
        if self.ensure == "absent":
            tasks, unmet = removal.tasks(host, self.name, self.properties, node)
            self._unmet = unmet
            return tasks
        if not self.tree:
            tasks = self._file(host, node)
        elif state is None:
            tasks = [self._making(self._wanted(host, None))]
        else:
            tasks = self._directory(host, state)
        return tasks

    def require(self, host: "HostReader", state: Found) -> None:
        for missing in self._unmet:
            raise missing

    def assumed(self, host: "HostReader") -> List[Task]:
        """See the base class. Creates the path without reading its content. An omitted mode is
        kept.
        """
        if self.ensure == "absent":
            return [removal.removing(self.name, force=self.properties.get("force") is True)]
        keeps_attributes = any(self.properties.get(key) is None for key in _OWN)
        want = self._wanted(host, self.node(host, self.read(host)) if keeps_attributes else None)
        if self.tree:
            return [self._making(want)]
        return [Task(_CREATED, self._put(None, want), [Change("content", None, None)])]

    def known(self, host: "HostReader", state: Found) -> List[Task]:
        """See the base class. Writes everything again, so that later resources read the desired
        state.
        """
        node = self.node(host, state)
        if self.ensure == "absent":
            return [removal.removing(self.name, force=self.properties.get("force") is True)]
        want = self._wanted(host, node)
        if self.tree:
            return [self._setting([], want)]
        content = None if self._stays(node) else self._content(host)
        return [] if content is None else [Task("", self._put(content, want))]

    # -- a regular file ---------------------------------------------------------------------------

    def _file(self, host: "HostReader", node: "Optional[Node]") -> List[Task]:
        want, properties = self._wanted(host, node), self.properties
        stays = self._stays(node)
        bare = stays or (properties.get("content") is None and properties.get("source") is None)
        content = None if bare else self._unless_missing(lambda: self._content(host))
        replacement.refuse(self.name, node, bare, stays)
        if node is None:
            self._unless_missing(lambda: host.files.require_parent(self.name))
        if node is None and bare:
            return [self._empty(host, want)]
        attributes = self._attributes(host, node, want) if node is not None else []
        changes = [] if bare else replacement.changes(host, self.name, node, content)
        if not changes:
            return [self._setting(attributes, want)] if attributes else []
        self._require_validator(host)
        backup = self._backup(host, node)
        backup_changes = backup.changes if backup is not None else []
        new = None if content is None else NewContent(self.name, content, want.mode, node)
        put = self._put(content, want, backup)
        return [Task(_CREATED, put, changes + attributes + backup_changes, self._writing, new)]

    @property
    def _writing(self) -> str:
        return "writing %s" % self.name

    def _empty(self, host: "HostReader", want: Wanted) -> Task:
        content = host.contents.text("")
        change = Change("ensure", "absent", "present")
        return Task(_EMPTY, self._put(content, want, part=True), [change], self._writing)

    def _put(
        self,
        content: "Optional[Content]",
        want: Wanted,
        backup: "Optional[Backup]" = None,
        part: bool = False,
    ) -> "Callable[[Host], None]":
        validate = str(self.properties.get("validate") or "")

        def put(host: "Host") -> None:
            """Write the file, after its backup."""
            before = None if backup is None else lambda: backup.make(host)
            host.files.put(
                self.name,
                content,
                mode=want.mode,
                uid=want.uid,
                gid=want.gid,
                validate=validate,
                before=before,
                firm=True,
                part=part,
            )

        return put

    def _backup(self, host: "HostReader", node: "Optional[Node]") -> "Optional[Backup]":
        """Return the backup of the file that is replaced, None for no backup."""
        if self.properties.get("backup") is not True or node is None or node.kind != "file":
            return None
        from remote_runtime.resources.file.backups import Backup

        return Backup(host, self.name, node)

    def _require_validator(self, host: "HostReader") -> None:
        validate = str(self.properties.get("validate") or "")
        if validate and "{}" not in split(validate)[0]:
            require = host.contents.require
            self._unless_missing(lambda: require(validate, "it cannot be validated"))

    def _setting(self, changes: List[Change], want: Wanted) -> Task:
        """Return the task that sets the attributes; for a directory, those of the targets of
        symlinks."""
        uid, gid, mode = want

        def act(host: "Host") -> None:
            change = host.files.set_directory_attributes if self.tree else host.files.set_attributes
            change(self.name, mode, uid, gid)

        return Task("Would have updated attributes", act, changes)

    @property
    def alone(self) -> bool:
        return self.ensure != "present" or "validate" in self.properties

    def ahead(self, host: "HostReader") -> "Optional[NewFile]":
        """See the base class. The file that it will put in place."""
        if isinstance(self.properties.get("source"), str):
            return None  # an earlier resource may still change it
        try:
            content = self._content(host)
            if content is None or not content.at_hand:
                return None
            node = host.files.lstat(self.name)
            if self._stays(node) or not self._differs(host, content, node):
                return None
            replacement.refuse(self.name, node, False)
            want = self._wanted(host, node)
        except ResourceError:
            return None
        if self._unmet:
            return None
        from remote_runtime.host.file_ports import NewFile

        uid, gid, mode = want
        return NewFile(self.name, content, mode=mode, uid=uid, gid=gid, replaces=node)

    def travels(self, host: "HostReader") -> List[BlobNeed]:
        """See the base class. The content of a file that will be written, if its size or hash
        differs.
        """
        contents = [self.properties.get(key) for key in ("content", "source")]
        for value in contents if self.ensure == "present" else ():
            if isinstance(value, dict):
                content = host.contents.of(value)
                try:
                    node = host.files.lstat(self.name)
                    if self._stays(node) or not self._differs(host, content, node):
                        return []
                    new = NewContent(self.name, content, self._wanted_mode(node), node)
                except ResourceError:
                    return []  # the resource reports the error when it runs
                return [BlobNeed(content.sha256, False, new)]
        return []

    def _differs(self, host: "HostReader", content: "Content", node: "Optional[Node]") -> bool:
        if node is None or node.kind != "file" or node.size != content.size:
            return True
        return host.files.digest(self.name, known=node) != content.sha256

    # -- a directory ------------------------------------------------------------------------------

    def _directory(self, host: "HostReader", state: Mapping[str, Any]) -> List[Task]:
        node = state["node"]
        if node.kind != "directory":
            is_link = node.kind == "symlink"
            raise ResourceError(
                "%s is a %s, not a directory" % (self.name, "symlink" if is_link else "file"),
                hint="use another path, or the directory that it points to"
                if is_link
                else "use another path; ccm does not replace a file with a directory",
            )
        want = self._wanted(host, node)
        attributes = self._attributes(host, node, want)
        own = [self._setting(attributes, want)] if attributes else []
        below: "Optional[Below]" = state["below"]
        if below is None:
            return own
        if below.unknown is not None:
            self._unmet.insert(0, below.unknown)
        return below.tasks(host, own, want.uid, want.gid)

    def _making(self, want: Wanted) -> Task:
        uid, gid, mode = want

        def make(host: "Host") -> None:
            host.files.make_directory(self.name, mode, uid=uid, gid=gid, firm=True)

        change = Change("ensure", "absent", "directory")
        return Task("Would have created directory", make, [change])
