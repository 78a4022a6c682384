"""The link type: a symlink and its target (target; ``check`` on both sides)."""

import posixpath
from typing import Any, List, Mapping, Optional, Tuple

from remote_runtime.base import Diff, PathStateType, Properties
from remote_runtime.host.ports import Host, HostReader


def _end(name: str, target: str) -> str:
    """Return the path to which a link leads, based only on its text; a part of it may be a link."""
    if not target or ".." in target.split("/"):
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


class Resource(PathStateType):
    """One symlink."""

    inputs = ("target",)

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        wrong = []
        if name == "/":
            wrong.append(("name", "the root directory cannot be a link"))
        if _end(name, str(properties.get("target") or "")) == name:
            wrong.append(("target", "the link would point to itself"))
        return super().check(name, properties) + wrong

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        node = host.files.lstat(self.name)
        return None if node is None else {"type": node.kind, "target": node.target}

    def desired(self) -> Mapping[str, Any]:
        return {"type": "symlink", "target": self.properties["target"]}

    def apply(self, host: Host, diff: Diff) -> None:
        force = self.properties.get("force") is True
        host.files.symlink(self.properties["target"], self.name, replace=force)

    def remove(self, host: Host) -> None:
        host.files.unlink(self.name, kind="symlink")
