"""A manifest is made with forms alone, edited as text, undone, compared and saved."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from orchestrator.cli import app
from tests.docs.pages import ROOT
from tests.orchestrator.studio.design.designer import DesignerBrowser, designer, project
from tests.texts import expect_text

SITE = """\
# The web servers
data:
  port: 80  # of nginx
ccm:
  resources:
    - package:
        - nginx: {ensure:   latest}   # for all

    # what the server says
    - file:
        - '/etc/motd':
            content: "hi"
            owner: root
            group: root
            mode: "0644"
"""


@pytest.fixture
def browser(state: Path, tmp_path: Path) -> DesignerBrowser:
    """A browser over a project with a manifest."""
    return designer(state, project(tmp_path, SITE))[1]


@pytest.fixture
def file(browser: DesignerBrowser, tmp_path: Path) -> Path:
    """The manifest of the project."""
    return tmp_path / "project" / "site.yaml"


def test_a_manifest_is_made_from_nothing(browser: DesignerBrowser, tmp_path: Path) -> None:
    """Package, file, service that subscribes, users of a list: valid, saved, in canonical form."""
    new = "roles/web.yaml"
    browser.edit(new)
    browser.send(new, "data", new_key="admins", new_value="[alice, bob]")
    for type_, name in (("package", "nginx"), ("file", "/etc/a"), ("service", "nginx")):
        browser.send(new, f"add:{type_}", name=name)
    browser.set(new, 1, content="x", owner="root", group="root", mode="0644")
    browser.set(new, 2, ensure="running", enable="true", subscribe=["file#/etc/a"])
    browser.send(new, "add:user", name="{{ item }}")
    browser.set(new, 3, foreach="Data.admins", groups="adm\nsudo")
    assert browser.errors() == []
    browser.send(new, "save")
    assert (tmp_path / "project" / new).read_text() == (
        "data:\n  admins: [alice, bob]\n"
        "ccm:\n  resources:\n"
        "    - package:\n        - nginx: {}\n"
        "    - file:\n        - /etc/a:\n            content: |\n              x\n"
        '            owner: root\n            group: root\n            mode: "0644"\n'
        "    - service:\n        - nginx:\n            ensure: running\n            enable: true\n"
        '            subscribe: ["file#/etc/a"]\n'
        '    - user:\n        - "{{ item }}":\n            foreach: Data.admins\n'
        "            groups: [adm, sudo]\n"
    )


def test_a_content_of_one_expression_gets_no_newline(browser: DesignerBrowser) -> None:
    """The value of ``template()`` ends with one already; other texts get theirs."""
    browser.edit("site.yaml", 1)
    browser.set("site.yaml", 1, content="")
    browser.set("site.yaml", 1, content="{{ template('a.j2') }}")
    assert "content: \"{{ template('a.j2') }}\"\n" in browser.yaml
    browser.set("site.yaml", 1, content="")
    browser.set("site.yaml", 1, content="hello")
    assert "content: |\n              hello\n" in browser.yaml


def test_a_path_is_one_line(browser: DesignerBrowser) -> None:
    """The source of a file gets no newline, as a content does."""
    page = browser.edit("site.yaml", 1)
    assert '<input id="p-source"' in page
    assert '<textarea id="p-content"' in page
    browser.set("site.yaml", 1, content="", source="motd.txt")
    assert "source: motd.txt\n" in browser.yaml


def test_what_is_not_touched_stays(browser: DesignerBrowser, file: Path) -> None:
    """A form that comes back as it was sent changes nothing; another one a single line."""
    browser.edit("site.yaml", 0)
    browser.set("site.yaml", 0, ensure="latest", provider="")
    assert browser.yaml == SITE
    browser.set("site.yaml", 1, content="hi", mode="0600", owner="root")
    browser.send("site.yaml", "data", **{"d.port": "80"})
    browser.send("site.yaml", "save")
    assert file.read_text() == SITE.replace("0644", "0600")


def test_errors_stand_at_their_field(
    browser: DesignerBrowser, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Problems have the words of ``ccm validate``."""
    browser.edit("site.yaml", 1)
    browser.set("site.yaml", 1, mode="999", group="", require=["package#nginx"])
    told = browser.errors()
    assert len(told) == 2
    at_mode = browser.page.index('id="p-mode"')
    assert at_mode < browser.page.index('role="alert"', at_mode) < browser.page.index('id="a-mode"')
    browser.send("site.yaml", "save")
    assert app.main(["validate", str(file)]) == 2
    said = capsys.readouterr().err
    assert all(one.partition(": ")[2] in said for one in told)


def test_undo_redo_and_the_difference(browser: DesignerBrowser, file: Path) -> None:
    """Each step is undone by itself; the difference is shown before it is saved."""
    browser.edit("site.yaml")
    browser.send("site.yaml", "move:1:up")
    browser.send("site.yaml", "remove:1")
    assert "nginx: {" not in browser.yaml
    browser.send("site.yaml", "undo")
    browser.send("site.yaml", "undo")
    assert browser.yaml == SITE
    browser.send("site.yaml", "redo")
    page = browser.get("/design/diff", file="site.yaml")
    assert "# what the server says" in page
    assert file.read_text() == SITE
    browser.send("site.yaml", "discard")
    assert browser.edit("site.yaml").count("not saved") == 0


def test_the_text_and_the_form_are_one(browser: DesignerBrowser) -> None:
    """Text from a browser is taken with the line ends of the file; broken text stays there."""
    browser.edit("site.yaml")
    browser.send("site.yaml", "text", yaml=SITE.replace("hi", "ho").replace("\n", "\r\n"))
    assert browser.yaml == SITE.replace("hi", "ho")
    browser.send("site.yaml", "text", yaml="ccm: [")
    assert browser.status == 422
    assert browser.yaml == "ccm: ["
    assert "invalid YAML" in browser.errors()[0]
    browser.send("site.yaml", "undo")
    assert browser.yaml == SITE


def test_two_editors_of_one_file(browser: DesignerBrowser, file: Path) -> None:
    """An edit overwrites neither a later save by somebody else nor an edit in another window."""
    browser.edit("site.yaml")
    browser.send("site.yaml", "data", **{"d.port": "81"})
    old = browser.field("revision")
    browser.send("site.yaml", "data", **{"d.port": "82"})
    browser.send("site.yaml", "data", revision=old, **{"d.port": "83"})
    assert "another window" in browser.errors()[0]
    file.write_text(SITE + "# of an editor\n")
    browser.send("site.yaml", "save")
    expect_text(browser.errors()[0])
    assert file.read_text() == SITE + "# of an editor\n"
    file.unlink()
    browser.send("site.yaml", "save")
    expect_text(browser.errors()[0])
    assert not file.exists()


def test_the_mode_of_a_file_stays(browser: DesignerBrowser, file: Path) -> None:
    """A new file has the one of the umask; nothing is left beside it."""
    file.chmod(0o640)
    browser.edit("site.yaml")
    browser.send("site.yaml", "data", **{"d.port": "81"})
    browser.send("site.yaml", "save")
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(file.parent)) == ["ccm.yaml", "hosts.yaml", "site.yaml"]


def test_the_types_of_a_site_have_forms(state: Path, tmp_path: Path) -> None:
    """Made from their schemas, with the documentation of each property."""
    root = project(tmp_path, SITE)
    shutil.copytree(ROOT / "examples" / "own-type" / "types", root / "types")
    browser = designer(state, root)[1]
    browser.edit("site.yaml")
    page = browser.send("site.yaml", "add:cronjob", name="backup")
    assert "The command, on one line; cron runs it with <code>/bin/sh</code>." in page
    browser.set("site.yaml", 2, schedule="@daily", command="/usr/local/bin/backup")
    assert browser.errors() == []
    assert '            schedule: "@daily"\n' in browser.yaml


DEFAULTS = """\
ccm:
  defaults:
    file: {owner: daemon, group: daemon}
  resources:
    - file:
        - defaults: {group: games}
        - /etc/a: {content: "x"}
    - file:
        - /etc/b: {content: "x"}
"""


@pytest.mark.parametrize(("number", "group"), [(1, "games"), (2, "daemon")])
def test_a_form_shows_the_defaults_of_the_manifest(
    state: Path, tmp_path: Path, number: int, group: str
) -> None:
    """Those of its list come first; a property with a default is not required."""
    browser = designer(state, project(tmp_path, DEFAULTS))[1]
    browser.edit("site.yaml", number)
    assert 'name="p.owner" value="" placeholder="daemon"' in browser.page
    assert f'name="p.group" value="" placeholder="{group}"' in browser.page
    required = re.findall(r'for="p-(\w+)">\w+ <span class="faint">required', browser.page)
    assert required == ["mode"]


def test_a_form_changes_what_was_edited_in_it(browser: DesignerBrowser) -> None:
    """Fields that come back as they were shown do not undo what the text has changed since."""
    browser.edit("site.yaml", 1)
    browser.send("site.yaml", "text", yaml=SITE.replace("owner: root", "owner: bob"))
    fields = {"has.owner": "root", "p.owner": "root", "has.mode": "0644", "p.mode": "0600"}
    browser.send("site.yaml", "set", resource="1", **fields)
    browser.send("site.yaml", "data", **{"was.port": "80", "d.port": "80"})
    assert browser.yaml == SITE.replace("owner: root", "owner: bob").replace("0644", "0600")
