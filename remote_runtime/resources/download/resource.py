"""The download type: one file from a URL (target; ``check`` on both sides)."""

from typing import Any, Dict, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, PathStateType, Properties
from remote_runtime.downloads.checksums import algorithm_of, parse_checksum
from remote_runtime.downloads.request import Request, request_of
from remote_runtime.errors import ResourceError
from remote_runtime.host.download_ports import NewDownload
from remote_runtime.host.file_ports import OURS, Node
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.archive.rules import parse_size
from remote_runtime.resources.file.modes import parse_mode
from remote_runtime.retries import tries_of
from remote_runtime.text import duration

_TIMEOUT = "5m"
_MAX_SIZE = "10GiB"
_MODE, _PRIVATE_MODE = 0o644, 0o600


class Resource(PathStateType):
    """One file, and its content if a checksum or ``force`` manages it."""

    noun = "downloaded file"
    _checksum = ""  # that the file is to have, once it is known; in its canonical form
    _found: Optional[Mapping[str, Any]] = None  # the state as it was read

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.download import rules

        return rules.problems(name, properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.download import rules

        return rules.warnings(properties)

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        self._found = self._look(host)
        return self._found

    def _look(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        node = host.files.lstat(self.name)
        if node is None:
            return None
        if node.kind not in ("file", "symlink"):
            what = "a directory" if node.kind == "directory" else "a device, socket or pipe"
            raise ResourceError(
                "%s is %s, not a file; it was not changed" % (self.name, what),
                kind="resource.file.kind",
                hint="use another path",
            )
        state: Dict[str, Any] = {"type": node.kind}
        if node.kind == "symlink":
            return state
        owner, group = self._text("owner"), self._text("group")
        user = "" if owner.isdigit() else host.accounts.user_name(node.uid)
        of_group = "" if group.isdigit() else host.accounts.group_name(node.gid)
        state["owner"], state["group"] = user or str(node.uid), of_group or str(node.gid)
        state["mode"] = "%04o" % node.mode
        if self._is_to_match(host):
            algorithm = algorithm_of(self._checksum)
            state["checksum"] = "%s:%s" % (algorithm, host.files.digest(self.name, algorithm))
        return state

    def _is_to_match(self, host: HostReader) -> bool:
        """Return whether an existing file must have a checksum, which is known after this call."""
        if self.ensure == "absent" or self._checksum:
            return bool(self._checksum)
        request, listed, tries = self._request(), self._listed(), tries_of(self.properties)
        if self._text("checksum"):
            self._checksum = parse_checksum(self._text("checksum"))
        elif listed is not None:
            self._checksum = host.downloads.listed(listed, request.path, tries)
        elif self.properties.get("force"):
            self._checksum = host.downloads.checksum(request, self.name, tries)
        return bool(self._checksum)

    def _listed(self) -> Optional[Request]:
        """Return the request for the checksum file, if there is one."""
        url = self._text("checksum_url")
        if not url:
            return None
        from remote_runtime.downloads.http_get import redirected

        return redirected(self._request(), url)

    def left(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Return the state from the manifest; the server's content is known
        only in a push.
        """
        current = self._found or {}
        keys = [key for key in ("owner", "group", "mode", "checksum") if self._text(key)]
        return {key: current.get(key) for key in ["type", *keys]}

    def desired(self) -> Mapping[str, Any]:
        """See the base class. ``checksum`` is the given one, or else that of the remote file if it
        was queried.
        """
        wanted: Dict[str, Any] = {"type": "file"}
        for key in ("owner", "group"):
            if self._text(key):
                wanted[key] = self._text(key)
        if self._text("mode"):
            wanted["mode"] = "%04o" % parse_mode(self._text("mode"))
        if self._text("checksum"):
            wanted["checksum"] = parse_checksum(self._text("checksum"))
        elif self._checksum:
            wanted["checksum"] = self._checksum
        return wanted

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Downloads only if the file is missing or its checksum differs;
        otherwise, only sets attributes.
        """
        node = None if diff.new else host.files.lstat(self.name)
        old_node = node if node is not None and node.kind == "file" else None
        uid, gid, mode = self._attributes(host, old_node)
        if not (diff.new or "type" in diff or "checksum" in diff):
            host.files.set_attributes(self.name, mode, uid, gid)
            return
        checksum = self._text("checksum")
        wanted = NewDownload(
            self._request(),
            self.name,
            mode=mode,
            uid=uid,
            gid=gid,
            checksum=parse_checksum(checksum) if checksum else "",
            listed=self._listed(),
            maximum=parse_size(self._text("max_size") or _MAX_SIZE),
            tries=tries_of(self.properties),
            firm=all(self._text(key) for key in ("owner", "group", "mode")),
        )
        received = host.downloads.fetch(wanted)
        if checksum or self._text("checksum_url") or self.properties.get("force"):
            self._checksum = received

    def _attributes(self, host: Host, old_node: Optional[Node]) -> Tuple[int, int, int]:
        """The owner, group and mode that it gets; ``old_node`` is the existing file."""
        owner, group = self._text("owner"), self._text("group")
        uid = host.accounts.number("user", owner) if owner else OURS
        gid = host.accounts.number("group", group) if group else OURS
        if old_node is not None:
            uid = uid if self._text("owner") else old_node.uid
            gid = gid if self._text("group") else old_node.gid
        if self._text("mode"):
            return uid, gid, parse_mode(self._text("mode"))
        if old_node is not None:
            return uid, gid, old_node.mode & 0o777
        return uid, gid, _PRIVATE_MODE if self._request().has_credentials else _MODE

    def remove(self, host: Host) -> None:
        host.files.unlink(self.name)

    def _request(self) -> Request:
        return request_of(
            self.properties,
            timeout=duration.parse(self._text("timeout") or _TIMEOUT),
            setting="timeout",
            verified=bool(self._text("checksum") or self._text("checksum_url")),
        )

    def _text(self, key: str) -> str:
        value = self.properties.get(key)
        return "" if value is None else str(value)
