"""What resources are but for their texts."""

import gc
from pathlib import Path

from orchestrator.planning.compiled_resource import CompleteResource
from orchestrator.planning.resource_skeletons import FilledResource, ResourceTemplate

from .planned import FakeHost, gathered, planner

SITE = """\
ccm:
  resources:
    - file: [{/a: {owner: root, group: root, mode: "0644", content: "TEXT"}}]
"""


def test_it_is_filled_with_other_texts(tmp_path: Path) -> None:
    """That is what a manifest with the other text comes to, name of its bytes and size included."""
    one, other = (
        planner(tmp_path, SITE.replace("TEXT", text)).plan(FakeHost(), gathered()).resources[0]
        for text in ("one", "another")
    )
    skeleton = ResourceTemplate.of(one)
    assert skeleton is not None
    for own in (False, True):
        filled = skeleton.filled([b"another"], own)
        assert filled.text == other.text
        assert (filled.blobs[0].sha, filled.blobs[0].text) == (other.blobs[0].sha, "another")
        assert filled.blob_count == 1
        assert (filled.outline, filled.properties) == (other.outline, other.properties)
        assert (filled.registrations, filled.longest) == (other.registrations, other.longest)


def test_what_a_host_has_of_its_own_is_its_texts(tmp_path: Path) -> None:
    """A plan is held for as long as its host is at work, and may have thousands of these."""
    skeleton = ResourceTemplate.of(
        planner(tmp_path, SITE).plan(FakeHost(), gathered()).resources[0]
    )
    assert skeleton is not None
    filled = skeleton.filled([b"another"], own=True)
    assert isinstance(filled, FilledResource)
    assert {*gc.get_referents(filled)} - {FilledResource} == {skeleton, (b"another",)}


def test_without_a_reference_there_is_none(tmp_path: Path) -> None:
    """Where a text is not referred to, there is no place for another one."""
    plan = planner(tmp_path, SITE).plan(FakeHost(), gathered())
    resource = plan.resources[0]
    assert ResourceTemplate.of(CompleteResource(resource.outline, b"{}", resource.blobs)) is None
