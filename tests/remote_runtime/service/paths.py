"""Paths that only a test knows: what a preview reads of a host's unit files."""

import os
from typing import Dict, Generator, List, Optional, Set

from remote_runtime.system.files import Files
from remote_runtime.system.paths import Status


class FakePaths(Files):
    """Texts by path; a path that is None is a mask, one that begins with ``->`` a link."""

    def __init__(self, **texts: Optional[str]) -> None:
        super().__init__()
        self.texts = {}  # type: Dict[str, Optional[str]]
        self.modes = {}  # type: Dict[str, int]
        self.update(texts)

    def update(self, texts: Dict[str, Optional[str]]) -> None:
        self.texts.update(texts)

    def _leads_to(self, path: str) -> str:
        text = self.texts.get(path)
        if text is None or not text.startswith("->"):
            return path
        return self._leads_to(os.path.join(os.path.dirname(path), text[2:]))

    def _directories(self) -> Set[str]:
        found = {"/"}
        for path in self.texts:
            while path != "/":
                path = os.path.dirname(path)
                found.add(path)
        return found

    def status(self, path: str, follow: bool = False) -> Optional[Status]:
        text = self.texts.get(path)
        if text is not None and text.startswith("->") and not follow:
            return Status("symlink", 0o777, 0, 0, 1, 0, (0,))
        path = self._leads_to(path)
        if path in self._directories():
            return Status("directory", 0o755, 0, 0, 1, 0, (0,))
        if path not in self.texts:
            return None
        if self.texts[path] is None:
            return Status("other", 0o666, 0, 0, 0, 0, (0,))
        size = len(self.texts[path] or "")
        return Status("file", self.modes.get(path, 0o644), 0, 0, size, 0, (0,))

    def is_directory(self, path: str) -> bool:
        found = self.status(path, follow=True)
        return found is not None and found.kind == "directory"

    def exists(self, path: str) -> bool:
        return self.status(path, follow=True) is not None

    def is_program(self, path: str) -> bool:
        found = self.status(path, follow=True)
        return found is not None and found.kind == "file" and bool(found.mode & 0o111)

    def entries(self, path: str) -> List[str]:
        path = self._leads_to(path[:-2]) if path.endswith("/.") else path
        known = set(self.texts) | self._directories()
        return sorted({os.path.basename(p) for p in known if os.path.dirname(p) == path})

    def link(self, path: str) -> str:
        text = self.texts.get(path) or ""
        return text[2:] if text.startswith("->") else ""

    def read(
        self, path: str, limit: int, follow: bool = False, known: Optional[Status] = None
    ) -> bytes:
        return (self.texts[self._leads_to(path)] or "").encode()

    def blocks(self, path: str, follow: bool = False) -> Generator[bytes, None, None]:
        yield self.read(path, 0, follow)
