"""The designer refuses reads, writes and runs that a user has no right to."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from orchestrator.studio.web.users import UserFile
from tests.orchestrator.studio.design.designer import DesignerBrowser, designer, project
from tests.orchestrator.studio.history import Site
from tests.texts import expect_text

PASSWORD = "correct horse battery"
SITE = "ccm:\n  resources:\n    - package:\n        - nginx: {}\n"
OUTSIDE = (
    "../site.yaml", "/etc/site.yaml", "a/../../site.yaml", "ccm.yaml", "roles/ccm.yaml", "ccm.yml",
    ".hidden.yaml", ".git/x.yaml", "a/.b/c.yaml", "site.txt", "", "a//b.yaml", "./site.yaml",
    "site.yaml/", "x\0.yaml", "a\\..\\b.yaml", "a\nb.yaml", "..", "~/x.yaml", "link.yaml",
    "out/site.yaml", "hosts.yaml", "data.yaml", "pipe.yaml", "folder.yaml", "x" * 200 + ".yaml",
)  # fmt: skip
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}</textarea>"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with links and other things that are no manifests."""
    root = project(tmp_path, SITE)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "site.yaml").write_text(SITE)
    (root / "link.yaml").symlink_to(outside / "site.yaml")
    (root / "out").symlink_to(outside)
    (root / "data.yaml").write_text("services: {web: {image: nginx}}\n")
    (root / "folder.yaml").mkdir()
    os.mkfifo(root / "pipe.yaml")
    return root


def tree(root: Path) -> dict[str, bytes]:
    """Every regular file below the directory above a project."""
    return {str(p): p.read_bytes() for p in root.parent.rglob("*.y*ml") if p.is_file()}


@pytest.mark.parametrize("name", OUTSIDE)
def test_only_manifests_of_the_project_are_opened(state: Path, root: Path, name: str) -> None:
    """No name leads out of it or to what is no manifest; nothing is read, listed or written."""
    _, browser = designer(state, root)
    before = tree(root)
    page = browser.edit(name)
    assert browser.status == 422
    assert "nginx: {}" not in page
    browser.get("/design")
    assert "site.yaml" in browser.page
    listed = browser.page.partition("Create a manifest")[0]
    assert listed.count("/design/edit?file=") == 1
    csrf = browser.field("csrf")
    for action in ("text", "save", "commit", "preview"):
        fields = {"csrf": csrf, "revision": "1", "action": action, "yaml": SITE}
        browser.browser.post("/design/edit", params={"file": name}, data=fields)
    assert tree(root) == before


def test_a_link_that_comes_meanwhile_is_not_followed(state: Path, root: Path) -> None:
    """Neither for the file nor for its directory, once the manifest is open."""
    (root / "roles").mkdir()
    for name, link in (("site.yaml", "site.yaml"), ("roles/new.yaml", "roles")):
        _, browser = designer(state, root)
        browser.edit(name)
        browser.send(name, "add:package", name="evil")
        at = root / link
        at.rmdir() if at.is_dir() else at.unlink()
        at.symlink_to(root.parent / "outside" / ("site.yaml" if link == name else ""))
        browser.send(name, "save")
        assert "is a symlink" in browser.errors()[0] or "cannot be read" in browser.errors()[0]
        assert "evil" not in "".join(map(bytes.decode, tree(root).values()))
        assert sorted(os.listdir(root.parent / "outside")) == ["site.yaml"]


def test_roles_are_needed(state: Path, root: Path, tmp_path: Path) -> None:
    """The role ``look`` cannot design, and ``design`` cannot preview."""
    auth = tmp_path / "users"
    for role in ("look", "design"):
        UserFile(auth).add(role, role, PASSWORD)
    site = Site(state, project=root, inventory=(str(root / "hosts.yaml"),), auth=auth)
    for user, status in (("look", 403), ("design", 303)):
        browser = site.other_browser()
        assert browser.post("/login", data={"name": user, "password": PASSWORD}).status_code == 303
        assert browser.get("/design").status_code == (403 if status == 403 else 200)
        at_work = DesignerBrowser(browser)
        at_work.get("/")
        fields = {"csrf": at_work.field("csrf"), "revision": "1"}
        for action, expected in (("undo", status), ("preview", 403)):
            done = browser.post(
                "/design/edit", params={"file": "site.yaml"}, data={**fields, "action": action}
            )
            assert done.status_code == expected
        assert ('href="/design"' in at_work.page) == (status == 303)


@pytest.mark.parametrize("csrf", ["", "x", None])
def test_a_form_needs_its_token(state: Path, root: Path, csrf: str | None) -> None:
    """Without it, nothing is done and no draft is made."""
    site, browser = designer(state, root)
    fields = {"revision": "1", "action": "add:package", "name": "evil"}
    fields.update({} if csrf is None else {"csrf": csrf})
    done = browser.browser.post("/design/edit", params={"file": "site.yaml"}, data=fields)
    assert done.status_code == 403
    assert "evil" not in browser.edit("site.yaml")
    assert site.other_browser().get("/design/edit?file=site.yaml").headers["location"] == "/login"


def test_no_field_becomes_markup(state: Path, root: Path) -> None:
    """Names, values, data and errors of a manifest are text on every page."""
    _, browser = designer(state, root)
    browser.edit("site.yaml")
    browser.send("site.yaml", "add:file", name=NASTY)
    browser.send("site.yaml", "data", new_key=NASTY, new_value=f"- {NASTY!r}")
    browser.set("site.yaml", 1, content=NASTY, owner=NASTY, mode=NASTY, alias=NASTY, tags=NASTY)
    pages = [browser.page, browser.get("/design/diff", file="site.yaml")]
    pages += [browser.get("/design/try", file="site.yaml", host=NASTY), browser.edit(NASTY)]
    pages += [browser.get("/design/try", file="site.yaml", host="web1"), browser.get("/design")]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img" not in page


def test_what_is_too_large_is_refused(state: Path, root: Path) -> None:
    """A form of 10 MB, a manifest of more than one, and one that expands to millions of values."""
    _, browser = designer(state, root)
    browser.edit("site.yaml")
    fields = {"csrf": browser.field("csrf"), "revision": browser.field("revision")}
    big = {**fields, "action": "text", "yaml": SITE + "#" * (10 << 20)}
    done = browser.browser.post("/design/edit", params={"file": "site.yaml"}, data=big)
    assert done.status_code == 413
    browser.send("site.yaml", "text", yaml=SITE + "#" * (1 << 20))
    expect_text(browser.errors()[0])
    names = "abcdefghijklmnop"
    lines = ["a: &a [" + "x, " * 50 + "]"]
    lines += [f"{n}: &{n} [{', '.join(['*' + m] * 50)}]" for m, n in itertools.pairwise(names)]
    browser.send("site.yaml", "text", yaml="data:\n  " + "\n  ".join(lines) + "\n" + SITE)
    assert "aliases expand" in browser.errors()[0]
    browser.send("site.yaml", "data", new_key="x", new_value="[" * 500)
    assert browser.errors()
    assert browser.edit("site.yaml")
    assert "nginx" in browser.page


def test_templates_do_not_read_what_is_not_for_a_browser(state: Path, root: Path) -> None:
    """Not the environment, not files outside of the project, no ccm.yaml and no hidden file."""
    (root / ".env").write_text("TOKEN=hunter22\n")
    (root / "studio.pem").write_text("-----BEGIN PRIVATE KEY-----\nhunter22\n")
    (root / "password.txt").write_text("hunter22\n")
    (root / "public.txt").write_text("shown\n")
    (root.parent / "secret.txt").write_text("hunter22\n")
    os.environ["CCM_TEST_VARIABLE"] = "hunter22"
    reads = (
        "{{ Environ.CCM_TEST_VARIABLE }}", "{{ file('ccm.yaml') }}", "{{ file('.env') }}",
        "{{ file('../secret.txt') }}", "{{ template('.env') }}", "{{ template('../secret.txt') }}",
        "{{ file('studio.pem') }}", "{{ file('password.txt') }}",
    )  # fmt: skip
    _, browser = designer(state, root, private=(str(root / "password.txt"),))
    browser.edit("site.yaml")
    browser.send("site.yaml", "add:file", name="/etc/a")
    browser.set("site.yaml", 1, owner="root", group="root", mode="0644")
    for text in (*reads, "{{ file('public.txt') }}"):
        browser.edit("site.yaml", 1)
        browser.set("site.yaml", 1, content=text)
        page = browser.get("/design/try", file="site.yaml", host="web1")
        assert "hunter22" not in page
        assert "inventory: [" not in page
        assert ("shown" in page.partition("The rendered")[2]) == ("public" in text)
        refused = browser.status == 422 or "deferred_error" in page
        assert refused == ("public" not in text), page
    del os.environ["CCM_TEST_VARIABLE"]


def test_what_was_done_is_in_the_audit_log(state: Path, root: Path) -> None:
    """Who edited and saved which manifest."""
    _, browser = designer(state, root)
    browser.edit("site.yaml")
    browser.send("site.yaml", "add:package", name="jq")
    browser.send("site.yaml", "save")
    log = (state / "studio" / "audit.jsonl").read_text()
    assert '"action": "design add"' in log
    assert '"action": "design save"' in log
    assert '"file": "site.yaml"' in log


@pytest.mark.parametrize("action", ["remove:-1", "move:", "remove:x", "add:", "set", "zz"])
def test_a_form_of_nobody_changes_nothing(state: Path, root: Path, action: str) -> None:
    """A form that no page sends is refused with a message."""
    _, browser = designer(state, root)
    browser.edit("site.yaml")
    browser.send("site.yaml", action, resource="-1")
    assert browser.status == 422
    assert browser.errors()
    assert "nginx: {}" in browser.yaml
