"""Which texts of a type's properties are templates, and when."""

import json
from pathlib import Path
from typing import Any

import pytest

from remote_runtime.errors import ResourceError
from tests.orchestrator.planning.planned import plan, refused
from tests.orchestrator.site_types.types import change_schema, copy_cron

PROPERTIES = {
    "text": {"description": "A text.", "type": "string"},
    "anything": {"description": "Whatever is given."},
    "keyed": {"description": "A map.", "type": "object", "x-ccm-render-keys": True},
    "literal": {"description": "As it is written.", "type": "string", "x-ccm-render": "never"},
    "late": {"description": "At its turn.", "type": "string", "x-ccm-render": "deferred"},
}
SITE = "data: {word: yes-sir, n: 7}\nccm: {resources: [{probe: [{a: {%s}}]}]}"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory with a type `probe` that has one property of each kind."""
    change_schema(copy_cron(tmp_path, "probe"), properties=PROPERTIES, **{"else": None, "if": None})
    module = tmp_path / "types" / "probe" / "resource.py"
    module.write_text(
        "from remote_runtime.base import StateType\n\n\n"
        'class Resource(StateType):\n    """A type that only has properties."""\n'
    )
    return tmp_path


def rendered(site: Path, properties: str) -> dict[str, Any]:
    """The properties in the plan."""
    (item,) = plan(site, SITE % properties).items
    assert not item.deferred_error, item.deferred_error
    return dict(item.properties)


def test_texts_are_templates_however_deep_they_lie(site: Path) -> None:
    """Lists and maps are gone through; numbers, booleans and null stay what they are."""
    text = '"{{ Data.word }}"'
    given = (
        f"text: {text}, anything: [{text}, {{k: [{{k: {text}}}], n: 1, on: true, x: null}}, 2.5]"
    )
    assert rendered(site, given) == {
        "text": "yes-sir",
        "anything": ["yes-sir", {"k": [{"k": "yes-sir"}], "n": 1, "on": True, "x": None}, 2.5],
    }


def test_keys_are_templates_where_the_property_says_so(site: Path) -> None:
    """Elsewhere only the values of a map are."""
    entry = '{"k-{{ Data.n }}": "{{ Data.word }}"}'
    found = rendered(site, f"keyed: {entry}, anything: {entry}")
    assert found["keyed"] == {"k-7": "yes-sir"}
    assert found["anything"] == {"k-{{ Data.n }}": "yes-sir"}


def test_a_literal_property_is_no_template(site: Path) -> None:
    """What looks like an expression in it is not even read."""
    assert (
        rendered(site, 'literal: "{{ Data.word }} {{ 1 +"')["literal"] == "{{ Data.word }} {{ 1 +"
    )
    assert "site.yaml:2:" in refused(site, SITE % 'text: "{{ 1 +"')


def test_a_deferred_property_waits_for_control(site: Path) -> None:
    """What cannot be rendered fails the resource at its turn, and not one that is left out."""
    late = "late: \"{{ lookup('data.nope') }}\""
    (item,) = plan(site, SITE % late).items
    assert "data.nope" in item.deferred_error
    (item,) = plan(site, SITE % f"{late}, control: {{if: 'false'}}").items
    assert (item.managed, item.deferred_error) == (False, "")


def test_a_deferred_property_may_read_what_is_written_in_the_run(site: Path) -> None:
    """An absolute path of file() is one of the target, read when the resource's turn comes."""
    made = plan(site, SITE % "late: \"{{ file('/srv/x') }}!\"")
    (entry,) = json.loads(made.payload({"run_id": "1"}))["resources"]
    assert entry["deferred_render"] is True
    assert made.render(0, lambda path: path.encode()) == {"late": "/srv/x!"}
    with pytest.raises(ResourceError):
        made.render(0, lambda path: b"\xff")
