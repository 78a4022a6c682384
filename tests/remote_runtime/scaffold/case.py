"""What the tests of scaffolds share (Python 3.6)."""

import os
import stat
from typing import Any, Dict, List, Sequence

from remote_runtime.plan_item import Item
from tests.remote_runtime.fakes import BlobStore, DirectoryTest, blob, item, one, run_items


class ScaffoldTest(DirectoryTest):
    """A directory, and scaffolds in it whose files a store has."""

    def setUp(self) -> None:
        super().setUp()
        self.store = BlobStore()

    def scaffold(
        self,
        files: Dict[str, bytes],
        executable: Sequence[str] = (),
        directories: Sequence[str] = (),
        name: str = "out",
        sensitive: bool = False,
        **properties: Any,
    ) -> Item:
        """The item of a scaffold with these files."""
        self.store.held.update(BlobStore(*files.values()).held)
        entries = []  # type: List[Dict[str, Any]]
        for path in sorted(files):
            entries.append(dict(blob(files[path]), path=path))
            if path in executable:
                entries[-1]["executable"] = True
        tree = {"$tree": "templates/app", "files": entries, "directories": list(directories)}
        properties["source"] = tree
        return item("scaffold", self.path(name), properties=properties, sensitive=sensitive)

    def apply(self, resource: Item, **options: Any) -> Dict[str, Any]:
        return one(run_items([resource], store=self.store, **options))

    def error(self, resource: Item, **options: Any) -> str:
        """The message of a run that has to fail."""
        event = self.apply(resource, **options)
        self.assertTrue(event["failed"], event)
        return "\n".join(event["error"])

    def put(self, name: str, content: bytes = b"", mode: int = 0o644) -> str:
        """Write a file with the directories above it."""
        directory = os.path.dirname(self.path(name))
        if not os.path.isdir(directory):
            os.makedirs(directory)
        return self.write(name, content, mode)

    def mode(self, name: str) -> int:
        return stat.S_IMODE(os.lstat(self.path(name)).st_mode)

    def files(self, name: str = "out") -> List[str]:
        """Every path below a directory, directories with a slash."""
        found = []
        for top, directories, names in os.walk(self.path(name)):
            at = os.path.relpath(top, self.path(name))
            found += [os.path.normpath(os.path.join(at, n)) for n in names]
            found += [os.path.normpath(os.path.join(at, n)) + "/" for n in directories]
        return sorted(found)
