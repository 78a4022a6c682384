"""Symlinks as a push leaves them, looked at from outside; over SSH and locally."""

import os

from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/releases: {ensure: directory, mode: "0755"}
    - link:
        - DIR/releases/current: {target: "42"}
        - DIR/absolute: {target: DIR/releases}
        - DIR/moved: {target: victim}
        - DIR/dangling: {target: ../no/such place}
        - DIR/as-it-is: {target: victim}
        - DIR/over-empty: {target: victim, force: true}
        - DIR/gone: {ensure: absent}
        - DIR/never: {ensure: absent}
    - file:
        - DIR/absolute/through: {content: "x\\n", owner: OWNER, group: GROUP, mode: "0644"}
"""

LEADS = {
    "releases/current": "42",
    "moved": "victim",
    "dangling": "../no/such place",
    "as-it-is": "victim",
    "over-empty": "victim",
}


def test_links(target: Target) -> None:
    """Every way to ask for a link gives just that, is previewed the same, and is stable then."""
    target.write("victim", "never written through\n")
    for name, to in (("moved", "elsewhere"), ("as-it-is", "victim"), ("gone", "victim")):
        os.symlink(to, target.path(name))
    target.path("over-empty").mkdir()
    before = target.names()
    preview = target.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert target.names() == before
    assert {event["prediction"] for event in preview.events} == {"certain"}
    assert target.event(preview, "link#moved")["noop_message"] == "Would have updated the link"
    assert target.event(preview, "link#dangling")["noop_message"] == "Would have created the link"
    assert target.event(preview, "link#gone")["noop_message"] == "Would have removed the link"

    done = target.push(ALL)
    assert done.code == 0, done.output
    assert target.statuses(done) == target.statuses(preview)
    assert target.statuses(done)["link#as-it-is"] == target.statuses(done)["link#never"] == "stable"
    for name, to in {**LEADS, "absolute": f"{target.directory}/releases"}.items():
        assert os.readlink(target.path(name)) == to
    assert target.read("victim") == "never written through\n"
    assert target.read("releases/through") == "x\n"
    assert target.names() == sorted(
        {*before, "absolute", "dangling", "releases"} - {"gone"},
    )

    again = target.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(target.statuses(again).values()) == {"stable"}


REFUSED = """\
ccm:
  resources:
    - link:
        - DIR/file: {target: victim, force: true}
        - DIR/empty: {target: victim}
        - DIR/full: {target: victim, force: true}
        - DIR/no/parent: {target: victim}
        - DIR/pipe: {ensure: absent}
        - DIR/last: {target: victim}
"""

REASONS = {
    "file": "is a file",
    "empty": "is a directory",
    "full": "is not empty",
    "no/parent": "the parent directory",
    "pipe": "device, socket or pipe",
}


def test_what_is_refused_leaves_all_as_it_was(target: Target) -> None:
    """A refusal fails its resource with the reason, in a preview too, and touches nothing."""
    target.write("file", "old\n")
    target.write("full/file", "old\n")
    target.path("empty").mkdir()
    os.mkfifo(target.path("pipe"))
    before = {name: target.look(name) for name in target.names()}
    for options in (("--noop",), ()):
        run = target.push(REFUSED, *options)
        assert run.code == 1, run.output
        for name, reason in REASONS.items():
            event = target.event(run, f"link#{name}")
            assert event["failed"], name
            assert reason in event["error"][0]
        assert {name: target.look(name) for name in before} == before
    assert os.readlink(target.path("last")) == "victim"
