"""What resources are but for their texts."""

from pathlib import Path

from orchestrator.planning.skeletons import Skeleton

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
    skeleton = Skeleton.of(one)
    assert skeleton is not None
    filled = skeleton.filled([b"another"])
    assert filled.text == other.text
    assert (filled.blobs[0].sha, filled.blobs[0].text) == (other.blobs[0].sha, "another")
    assert filled._replace(blobs=()) == other._replace(blobs=())


def test_without_a_reference_there_is_none(tmp_path: Path) -> None:
    """Where a text is not referred to, there is no place for another one."""
    plan = planner(tmp_path, SITE).plan(FakeHost(), gathered())
    assert Skeleton.of(plan.resources[0]._replace(properties=b"{}")) is None
