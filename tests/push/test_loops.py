"""Loops over data: what their alias stands for on a host."""

from tests.push.target import Target

SITE = """\
data: {names: [one, two], none: []}
ccm:
  defaults: {file: {owner: OWNER, group: GROUP, mode: "0644"}}
  resources:
    - file:
        - "DIR/{{ item }}": {foreach: Data.names, alias: all, content: "{{ index }} CONTENT"}
        - "DIR/no-{{ item }}": {foreach: Data.none, alias: nobody}
    - exec:
        - fired: {command: touch DIR/fired, refresh_only: true, subscribe: ["file#all"]}
        - gated: {command: "true", require: ["file#all", "file#nobody"]}
"""


def test_an_alias_stands_for_every_turn(target: Target) -> None:
    """A subscribe fires when any has changed, a require is met when all are; rerun is stable."""
    done = target.push(SITE)
    assert done.code == 0, done.output
    assert target.read("two") == "1 CONTENT"
    assert target.statuses(done)["exec#fired"] == "changed"
    done = target.push(SITE)
    assert {v for k, v in target.statuses(done).items() if k != "exec#gated"} == {"stable"}
    target.path("one").write_text("drift")
    done = target.push(SITE)
    assert target.event(done, "exec#fired")["refreshed"] is True
    target.path("one").unlink()
    target.path("one").mkdir()
    done = target.push(SITE)
    event = target.event(done, "exec#gated")
    assert (done.code, event["status"]) == (1, "skipped")
    assert event["unmet_requirements"] == [f"file#{target.directory}/one"]
