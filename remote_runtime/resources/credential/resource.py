"""The credential type: a value that only this host can decrypt, for its services (target;
``check`` on both sides)."""

from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, Properties, StateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.validation import rules

DIRECTORY = "/etc/credstore.encrypted"
_FOREIGN = "\0"
"""Represents a file that this host cannot decrypt; no actual value equals it."""


class Resource(StateType):
    """One credential, in a separate file."""

    noun = "credential"
    secret = ("value",)

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        wrong = [("name", "%r is not a credential name" % name)] if name in (".", "..") else []
        path = properties.get("path")
        if isinstance(path, str):
            wrong += [("path", message) for message in rules.of_path(path)]
        return wrong

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        return [(_path(name, properties), properties.get("ensure") != "absent")]

    @property
    def path(self) -> str:
        """The file."""
        return _path(self.name, self.properties)

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Decrypts the file on the host. A file that cannot be decrypted
        differs from every value.
        """
        node = host.files.lstat(self.path)
        if node is None:
            return None
        if node.kind == "directory":
            raise ResourceError("%s is a directory" % self.path, kind="resource.file.kind")
        if self.ensure == "absent":
            return {"value": _FOREIGN}
        value = host.credentials.value(self.name, self.path) if node.kind == "file" else None
        return {"value": _FOREIGN if value is None else value.decode("utf-8", "surrogateescape")}

    def desired(self) -> Mapping[str, Any]:
        return {"value": self.properties["value"]}

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Encrypts on the host, so that no file contains the plain value."""
        if self.path.startswith(DIRECTORY + "/") and host.files.stat(DIRECTORY) is None:
            host.files.mkdir(DIRECTORY, 0o700)
        value = str(self.properties["value"]).encode("utf-8", "surrogateescape")
        key = str(self.properties.get("key") or "auto")
        host.credentials.write(self.name, self.path, value, key)

    def remove(self, host: Host) -> None:
        host.files.unlink(self.path)


def _path(name: str, properties: Properties) -> str:
    return str(properties.get("path") or "%s/%s" % (DIRECTORY, name))
