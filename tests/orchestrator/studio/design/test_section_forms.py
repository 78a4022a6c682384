"""Forms for what a manifest has beside its resources."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from orchestrator.studio.design.section_forms import id_of
from tests.orchestrator.studio.design.designer import DesignerBrowser, designer, project
from tests.texts import expect_text

SITE = """\
# The web servers
data:
  port: 80  # of nginx
  users: [alice]
ccm:
  # in order
  resources:
    - package: [nginx: {}]
    - file:
        - /etc/a: {content: "{{ Data.port }}", group: root, mode: "0644"}
"""


@pytest.fixture
def browser(state: Path, tmp_path: Path) -> DesignerBrowser:
    """A browser over a project with a manifest."""
    made = designer(state, project(tmp_path, SITE))[1]
    made.edit("site.yaml")
    return made


def key(*path: str) -> str:
    """The key of the field at a path."""
    return id_of(path)


def put(browser: DesignerBrowser, section: str, **fields: object) -> None:
    """Send the form of a section; ``fields`` are values by key, or by the name of an input."""
    browser.get("/design/edit", file="site.yaml", section=section)
    data: dict[str, object] = {"section": section}
    for name, value in fields.items():
        if re.fullmatch("s[0-9a-f]{12}", name):
            found = re.search(f'name="has.{name}" value="([^"]*)"', browser.page)
            assert found is not None, browser.page
            data |= {f"has.{name}": html.unescape(found[1]), f"p.{name}": value}
        else:
            data[name] = value
    browser.send("site.yaml", f"section:{section}", **data)


def test_a_hierarchy_is_made_by_its_form(browser: DesignerBrowser) -> None:
    """Its order, its merge and that of a key of the data; what stands around them stays."""
    put(browser, "hierarchy", **{
        key("hierarchy", "order"): "role:{{ lookup('facts.role', 'none') }}\ndefault",
        key("hierarchy", "merge"): "deep",
        key("hierarchy", "keys", "users"): "unique",
        key("hierarchy", "knockout"): "--",
    })  # fmt: skip
    assert browser.errors() == []
    assert "section=hierarchy" in browser.address
    hierarchy = (
        "hierarchy:\n"
        "  order: [\"role:{{ lookup('facts.role', 'none') }}\", default]\n"
        '  merge: deep\n  knockout: "--"\n  keys:\n    users: unique\n'
    )
    assert browser.yaml == SITE.replace("ccm:\n", f"{hierarchy}ccm:\n")
    put(browser, "hierarchy", **{key("hierarchy", "keys", "users"): ""})
    without = hierarchy.replace("  keys:\n    users: unique\n", "")
    assert browser.yaml == SITE.replace("ccm:\n", f"{without}ccm:\n")


def test_choices_are_those_of_the_schema(browser: DesignerBrowser) -> None:
    """A merge is one of the words that the schema has, and each field has its documentation."""
    page = browser.get("/design/edit", file="site.yaml", section="hierarchy")
    choices = [
        re.findall("<option[^>]*>([^<]*)", one)
        for one in re.findall(r"(?s)<select[^>]*>.*?</select>", page)
    ]
    of_key = ["", "first", "deep", "unique"]
    assert choices == [["default: first", "first", "deep"], of_key, of_key]
    assert "Names of overrides, in order" in page
    page = browser.get("/design/edit", file="site.yaml", section="options")
    assert "End the run at the first resource that fails." in page


def test_overrides_are_made_by_their_form(browser: DesignerBrowser) -> None:
    """An entry of the order gets keys; one that is emptied is removed whole."""
    put(browser, "hierarchy", **{key("hierarchy", "order"): "role:web"})
    assert '<option value="role:web">' in browser.get(
        "/design/edit", file="site.yaml", section="overrides"
    )
    put(browser, "overrides", new_part="role:web")
    own = key("overrides", "role:web")
    put(browser, "overrides", **{f"new_key.{own}": "port", f"new_value.{own}": "8080"})
    put(browser, "overrides", **{f"new_key.{own}": "tags", f"new_value.{own}": "{a: [1, 2]}"})
    assert browser.errors() == []
    assert (
        "overrides:\n  role:web:\n    port: 8080\n    tags:\n      a: [1, 2]\nccm:" in browser.yaml
    )
    put(browser, "overrides", **{key("overrides", "role:web", "port"): "81"})
    assert "    port: 81\n" in browser.yaml
    put(browser, "overrides", **{key("overrides", "role:web", "port"): "[81"})
    assert len(browser.errors()) == 1
    assert "    port: 81\n" in browser.yaml
    browser.send("site.yaml", f"drop:overrides:{own}", section="overrides")
    assert browser.errors() == []
    assert "overrides" not in browser.yaml


def test_defaults_have_the_forms_of_types(browser: DesignerBrowser) -> None:
    """Files get an owner: the problem that they had none is gone, and the form leads back."""
    put(browser, "options")
    assert "required property &#39;owner&#39; is missing" in browser.page
    put(browser, "defaults", new_part="file")
    own = key("ccm", "defaults", "file", "owner")
    put(browser, "defaults", **{own: "root"})
    assert browser.yaml == SITE.replace(
        "  # in order\n", "  defaults:\n    file:\n      owner: root\n  # in order\n"
    )
    assert "1 problem" not in browser.page
    put(browser, "defaults", **{key("ccm", "defaults", "file", "ensure"): "nonsense"})
    (finding,) = [one for one in browser.errors() if "nonsense" in one]
    assert finding.startswith("site.yaml:")
    put(browser, "defaults", new_part="nonsense")
    expect_text(browser.errors()[0])


def test_options_are_those_of_the_manifest(browser: DesignerBrowser) -> None:
    """A boolean is one, a list of assertions is YAML, an empty text removes the key."""
    put(browser, "options", **{
        key("ccm", "fail_on_error"): "true",
        key("ccm", "pre_message"): "hello",
        key("ccm", "assert"): "- {that: 1 == 1, message: odd}",
    })  # fmt: skip
    assert browser.errors() == []
    added = browser.yaml.replace(SITE.partition("  # in order")[0], "").partition("  # in order")[0]
    assert sorted(line for line in added.splitlines() if line) == sorted(
        ["  fail_on_error: true", "  pre_message: hello", "  assert:",
         "    - that: 1 == 1", "      message: odd"]
    )  # fmt: skip
    put(browser, "options", **{key("ccm", "pre_message"): ""})
    assert "pre_message" not in browser.yaml


def test_secrets_are_in_no_section(browser: DesignerBrowser) -> None:
    """A password in defaults is hidden, and a new one replaces it."""
    text = (
        'ccm:\n  defaults: {user: {password: "hunter2hunter2"}}\n  resources: [package: [jq: {}]]\n'
    )
    browser.send("site.yaml", "text", yaml=text)
    for section in ("data", "hierarchy", "overrides", "defaults", "options"):
        page = browser.get("/design/edit", file="site.yaml", section=section)
        assert "hunter2" not in page
    own = key("ccm", "defaults", "user", "password")
    put(browser, "defaults", **{own: "another password"})
    assert "another password" not in browser.page
    assert "+  defaults: {user: {password: " in browser.get("/design/diff", file="site.yaml")


@pytest.mark.parametrize(
    "action", ["section:nonsense", "section:data", "drop:overrides:sx", "drop:x:y"]
)
def test_an_odd_section_is_refused(browser: DesignerBrowser, action: str) -> None:
    """The text stays as it is."""
    browser.send("site.yaml", action, section="overrides")
    assert len(browser.errors()) >= 1
    assert browser.yaml == SITE


def test_only_earlier_resources_can_be_required(browser: DesignerBrowser) -> None:
    """A later one would be refused, so it cannot be picked."""
    picks = r'(?s)<select id="p-require".*?</select>'
    of_file = re.search(picks, browser.edit("site.yaml", 1))
    of_package = re.search(picks, browser.edit("site.yaml", 0))
    assert of_file is not None
    assert re.findall("<option>([^<]*)", of_file[0]) == ["package#nginx"]
    assert of_package is not None
    assert "<option" not in of_package[0]


def test_a_problem_is_at_its_field(browser: DesignerBrowser) -> None:
    """The list of problems leads to the section, where it stands below the field."""
    own = key("hierarchy", "order")
    put(browser, "hierarchy", **{own: "role:{{ nonsense("})
    at_field = rf'(?s)id="p-{own}"(?:(?!<div class="field">).)*role="alert">(.*?)</p>'
    found = re.search(at_field, browser.page)
    assert found is not None, browser.page
    browser.edit("site.yaml")
    link = re.search(r'<a href="([^"]*section=\w+)">' + re.escape(found[1]), browser.page)
    assert link is not None
    assert "section=hierarchy" in link[1]
