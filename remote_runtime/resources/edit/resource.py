"""The edit type: parts of a text file that belongs to others (target; ``check`` on both sides)."""

from typing import Any, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, FilePartStateType, Missing, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import Node
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader

_MODE = 0o644  # of a file that is created
_NOUNS = {"line": "line", "block": "block", "settings": "settings", "replace": "text"}

_NO_MATCH = "check the file, and write an edit that matches it"
_NOT_TEXT = "check the path; to manage a binary file, use a file resource"


class Resource(FilePartStateType):
    """The edits of one file, which are written together."""

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self.noun = "file"
        if properties.get("edits") is None:
            kinds = [kind for kind in _NOUNS if properties.get(kind) is not None]
            self.noun = _NOUNS[kinds[0]] if kinds else "line"
        self._found: Optional[bytes] = None  # the content of the file, None for no file
        self._after: Optional[bytes] = None
        self._mode = _MODE

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.edit import rules

        return rules.problems(name, properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.edit import rules

        return rules.warnings(name, properties)

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. Applies the edits in memory. With ``ensure: absent``, a file without
        the edits is absent.
        """
        node = self._node(host)
        if node is None:
            self._found, self._after = None, self._edited(b"")
            return None
        self._mode = node.mode
        self._found = self._content(host, node)
        self._after = self._edited(self._found)
        if self.ensure == "absent" and self._after == self._found:
            return None
        return {"content": FileText(self._found, node.mode)}

    def _node(self, host: HostReader) -> Optional[Node]:
        node = host.files.stat(self.name)
        if node is not None or self.ensure == "absent" or not self.properties:
            return node
        if self.properties.get("create") is not True:
            raise Missing(
                "%s does not exist" % self.name,
                hint="set create: true, or manage it in an earlier file resource",
            )
        return None

    def _content(self, host: HostReader, node: Node) -> bytes:
        from remote_runtime.resources.edit.document import LARGEST

        if node.kind != "file":
            what = "device, socket or pipe" if node.kind == "other" else node.kind
            raise ResourceError("%s is a %s, not a file" % (self.name, what))
        if node.size > LARGEST:
            raise ResourceError(
                "%s has %d bytes, but edit only changes files of up to %d"
                % (self.name, node.size, LARGEST),
                kind="resource.file.size",
                hint="check the path; to manage all of a large file, use a file resource",
            )
        return host.files.read(self.name, LARGEST)

    def _edited(self, data: bytes) -> bytes:
        """The content after all edits. ``ResourceError`` for an edit that does not match the file,
        or that a later edit undoes.
        """
        from remote_runtime.resources.edit import rules

        specs = rules.specs_of(self.properties)
        steps = self._steps(specs, data)
        after = steps[-1] if steps else data
        moved = any(step != data for step in steps)
        if moved and any(self._steps([spec], after) != [after] for spec in specs):
            raise self._failure(
                "every run would change it again: the edits undo each other",
                "remove one of the edits",
            )
        return after

    def _steps(self, specs: Sequence[Mapping[str, Any]], data: bytes) -> List[bytes]:
        """The content after each of the edits."""
        from remote_runtime.resources.edit import rules
        from remote_runtime.resources.edit.document import Document

        steps = []
        try:
            document = Document(data)
            for spec in specs:
                edit = rules.edit_of(spec)
                (edit.absent if spec.get("ensure") == "absent" else edit.present)(document)
                steps.append(document.data())
        except ValueError as error:
            raise self._failure(str(error), _NOT_TEXT if b"\0" in data else _NO_MATCH) from error
        return steps

    def _failure(self, reason: str, hint: str) -> ResourceError:
        return ResourceError(
            "%s was not changed: %s" % (self.name, reason), kind="resource.edit", hint=hint
        )

    def desired(self) -> Mapping[str, Any]:
        if self._after is None:
            return {}
        return {"content": FileText(self._after, self._mode)}

    def remaining(self) -> Mapping[str, Any]:
        return self.desired()

    def left(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """See the base class. The part that the resource manages, as a digest."""
        from remote_runtime.resources.edit import rules
        from remote_runtime.resources.edit.document import Document
        from remote_runtime.stdlib_light import json_text
        from remote_runtime.stdlib_light.sha256_digest import sha256

        if self._found is None:
            return None
        try:
            document = Document(self._found)
            parts = [rules.edit_of(one).part(document) for one in rules.specs_of(self.properties)]
        except ValueError as error:
            hint = _NOT_TEXT if b"\0" in self._found else _NO_MATCH
            raise self._failure(str(error), hint) from error
        return {"part": str(sha256(json_text.dumps(parts).encode("utf-8")).hexdigest())}

    def apply(self, host: Host, diff: Diff) -> None:
        """See the base class. Refuses an edit that would lock out ccm's user, and a file that
        changed since ``read``.
        """
        if self._after is None:
            raise ResourceError("the content of %s is not known yet" % self.name)
        validate = str(self.properties.get("validate") or "")
        if self.properties.get("force") is not True:
            from remote_runtime.host.lockout import require_access

            require_access(host, self.name, self._found or b"", self._after)
        if diff.new:
            dangling = host.files.lstat(self.name) is not None
            path = host.files.real(self.name) if dangling else self.name
            host.files.write(path, self._after, mode=_MODE, validate=validate, part=True)
            return
        node = host.files.stat(self.name)
        if node is None or self._content(host, node) != self._found:
            raise ResourceError(
                "%s was changed by another process during the run" % self.name,
                kind="resource.file.moved",
                hint="find out what changes it, and push again",
            )
        host.files.rewrite(self.name, self._after, validate=validate)

    def remove(self, host: Host) -> None:
        self.apply(host, Diff({}, {}))
