"""Secrets of a manifest are never sent, stay when they are not edited, and go nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrator.studio.design.designer import DesignerBrowser, designer, project

SECRETS = (
    "$6$salt$hunter2hash",
    "hunter2pass",
    "hunter2 in\n              two lines",
    "hunter2data",
)
SITE = """\
data:
  port: 80
  # @secret
  db: {password: hunter2data, host: db1}
overrides:
  web: {db: {password: 'hunter2data'}}
ccm:
  defaults:
    archive: {password: hunter2pass}
  resources:
    - user:
        - bob:
            password: "$6$salt$hunter2hash"   # of bob
            shell: /bin/sh
        - eve: {password: "{{ Data.db }}"}
    - file:
        - /etc/key:
            content: |
              hunter2 in
              two lines
            owner: root
            group: root
            mode: "0600"
            sensitive: true
    - exec:
        - "login hunter2pass": {}
"""


@pytest.fixture
def browser(state: Path, tmp_path: Path) -> DesignerBrowser:
    """A browser over a project with secrets."""
    return designer(state, project(tmp_path, SITE))[1]


def saved(browser: DesignerBrowser, tmp_path: Path) -> str:
    """The file, once it is saved."""
    browser.send("site.yaml", "save")
    return (tmp_path / "project" / "site.yaml").read_text()


def test_no_page_has_a_secret(browser: DesignerBrowser) -> None:
    """Not in the text, in a form, in the data, in a message, in the difference or rendered."""
    pages = [browser.edit("site.yaml"), *(browser.edit("site.yaml", at) for at in range(4))]
    browser.edit("site.yaml", 0)
    pages.append(browser.set("site.yaml", 0, shell="relative", password=""))
    pages.append(browser.send("site.yaml", "remove:0"))
    pages.append(browser.get("/design/diff", file="site.yaml"))
    pages.append(browser.get("/design/try", file="site.yaml", host="web1"))
    browser.edit("site.yaml")
    pages.append(browser.send("site.yaml", "text", yaml="data: [hunter2data, x: hunter2pass"))
    for page in pages[:-1]:
        assert "hunter2" not in page
    assert "hunter2data" not in browser.errors()[0]


def test_what_is_not_edited_stays(browser: DesignerBrowser, tmp_path: Path) -> None:
    """A text that comes back with its marks has the secrets in their places, byte for byte."""
    browser.edit("site.yaml", 0)
    browser.send("site.yaml", "text", yaml=browser.yaml.replace("port: 80", "port: 81"))
    assert browser.errors() == []
    browser.set("site.yaml", 0, shell="/bin/bash", password="")
    wanted = SITE.replace("port: 80", "port: 81").replace("/bin/sh", "/bin/bash")
    assert saved(browser, tmp_path) == wanted


def test_a_secret_is_replaced_and_removed(browser: DesignerBrowser, tmp_path: Path) -> None:
    """By a form, which then hides the new one, too."""
    browser.edit("site.yaml", 0)
    page = browser.set("site.yaml", 0, password="$6$salt$hunter2new")
    assert "hunter2" not in page
    browser.send("site.yaml", "data", **{"d.db": "{password: hunter2other}"})
    browser.send("site.yaml", "set", resource="1", **{"remove.password": "1"})
    text = saved(browser, tmp_path)
    assert '"$6$salt$hunter2new"   # of bob' in text
    assert "hunter2other" in text
    assert "eve: {}" in text


@pytest.mark.parametrize(
    "change",
    [
        ("port: 80", 'port: "«secret 1»"'),
        ("port: 80", "port: «secret 1»"),
        ("shell: /bin/sh", 'shell: "«secret 3»"'),
        ("# @secret", "# nothing"),
        ("sensitive: true", "sensitive: false"),
        ("port: 80", 'port: "«secret 99»"'),
        ("data:", "# «secret 4»\ndata:"),
    ],
)
def test_a_mark_goes_nowhere_else(browser: DesignerBrowser, change: tuple[str, str]) -> None:
    """Where its secret would be shown, it is refused."""
    browser.edit("site.yaml")
    page = browser.send("site.yaml", "text", yaml=browser.yaml.replace(*change))
    assert browser.status == 422, page
    assert "secret" in browser.errors()[0]
    assert "hunter2" not in page
    assert "hunter2" not in browser.send("site.yaml", "undo")


def test_a_form_does_not_uncover_a_secret(browser: DesignerBrowser) -> None:
    """What was a secret once stays hidden in the draft, whatever becomes of its property."""
    browser.edit("site.yaml", 2)
    page = browser.send(
        "site.yaml", "set", resource="2", **{"has.sensitive": "1", "p.sensitive": ""}
    )
    assert "hunter2" not in page
    assert "hunter2" not in browser.edit("site.yaml", 2)
    assert "hunter2" not in browser.get("/design/diff", file="site.yaml")
    assert "hunter2" not in browser.get("/design/try", file="site.yaml", host="web1")
