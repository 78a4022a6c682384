"""What the tests of archives share: a directory, a server and an archive item (Python 3.6)."""

import os
from typing import Any, Dict

from remote_runtime.plan_item import Item
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.fakes import GROUP, OWNER, DirectoryTest, item, one, run_items


class ArchiveTest(DirectoryTest):
    """A directory with ``dl`` for archives, and a web server."""

    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("dl"))
        self.web = Web()
        self.addCleanup(self.web.close)

    def serve(self, name: str, data: bytes) -> str:
        """Serve bytes under a name; return their URL."""
        self.web.answers["/" + name] = content(data)
        return self.web.url("/" + name)

    def archive(self, name: str = "a.tar.gz", **properties: Any) -> Item:
        """An item below ``dl``, owned by whom the tests run as, from the URL of its name."""
        properties.setdefault("url", self.web.url("/" + name))
        properties.setdefault("owner", OWNER)
        properties.setdefault("group", GROUP)
        secrets = tuple(key for key in ("password", "headers") if key in properties)
        return item("archive", self.path("dl", name), properties=properties, secrets=secrets)

    def extracting(self, name: str = "a.tar.gz", **properties: Any) -> Item:
        """The same, extracted into ``out``."""
        properties.setdefault("extract_parent", self.path("out"))
        return self.archive(name, **properties)

    def apply(self, resource: Item, **options: Any) -> Dict[str, Any]:
        return one(run_items([resource], **options))

    def error(self, resource: Item, **options: Any) -> str:
        """The message of a run that has to fail."""
        event = self.apply(resource, **options)
        self.assertTrue(event["failed"], event)
        return "\n".join(event["error"])

    def names(self, directory: str) -> Any:
        return sorted(os.listdir(self.path(directory)))
