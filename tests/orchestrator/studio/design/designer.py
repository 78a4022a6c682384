"""A designer at work in a browser without JavaScript."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from tests.orchestrator.studio.history import Site

HOSTS = "hosts: {web1: {connection: local, vars: {role: web}}, web2: {connection: local}}\n"


class DesignerBrowser:
    """Sends the forms of the designer, with some of their fields."""

    def __init__(self, browser: TestClient) -> None:
        self.browser = browser
        self.page = ""
        self.status = 0
        self.address = ""

    def get(self, address: str, **query: Any) -> str:
        """Open a page."""
        found = self.browser.get(address, params=query or None)
        self.page, self.status, self.address = found.text, found.status_code, str(found.url)
        return self.page

    def edit(self, file: str, resource: int | None = None) -> str:
        """Open a manifest."""
        query = {"file": file, **({} if resource is None else {"resource": resource})}
        return self.get("/design/edit", **query)

    def field(self, name: str) -> str:
        """The value of a hidden field of the page."""
        found = re.search(f'name="{name}" value="([^"]*)"', self.page)
        assert found is not None, self.page
        return html.unescape(found[1])

    @property
    def yaml(self) -> str:
        """The text of the page."""
        found = re.search(r'<textarea id="yaml"[^>]*>\n(.*?)</textarea>', self.page, re.DOTALL)
        assert found is not None, self.page
        return html.unescape(found[1])

    def send(self, file: str, action: str, **fields: Any) -> str:
        """Send a form of the page, and follow it; the page behind it."""
        sent = {"csrf": self.field("csrf"), "revision": self.field("revision"), **fields}
        done = self.browser.post(
            "/design/edit", params={"file": file}, data={**sent, "action": action}
        )
        assert done.status_code == 303, done.text
        return self.get(done.headers["location"])

    def set(self, file: str, number: int, **fields: Any) -> str:
        """Send the form of a resource with these properties."""
        data: dict[str, Any] = {"resource": str(number)}
        for key, value in fields.items():
            data[f"has.{key}"] = "1"
            data[f"p.{key}"] = value
        return self.send(file, "set", **data)

    def errors(self) -> list[str]:
        """What the page reports."""
        found = re.findall(r'role="alert">(.*?)</p>', self.page, re.DOTALL)
        return [html.unescape(re.sub("<[^>]*>", "", one)) for one in found]


def project(tmp_path: Path, text: str = "", name: str = "site.yaml") -> Path:
    """A project with an inventory, and a manifest of a text."""
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    (root / "ccm.yaml").write_text("inventory: [hosts.yaml]\n")
    (root / "hosts.yaml").write_text(HOSTS)
    if text:
        (root / name).write_text(text)
    return root


def designer(state: Path, root: Path, **options: Any) -> tuple[Site, DesignerBrowser]:
    """A studio over a project, and a browser that is logged in."""
    site = Site(state, project=root, inventory=(str(root / "hosts.yaml"),), **options)
    return site, DesignerBrowser(site.log_in())
