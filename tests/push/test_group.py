"""Groups as a push leaves them on a booted host, asked of its own programs; over SSH."""

from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - group:
        - team: {gid: 4100}
        - any: {}
        - daemons: {system: true}
        - moved: {gid: 4201}
        - gone: {ensure: absent}
        - never: {ensure: absent}
    - file:
        - DIR/theirs: {content: "x\\n", owner: root, group: any, mode: "0640"}
"""


def entry(target: Target, name: str) -> list[str]:
    """The line of a group in the file of the host, its parts."""
    lines = (target.state.parents[2] / "etc/group").read_text(encoding="utf-8").splitlines()
    return next((line.split(":") for line in lines if line.startswith(f"{name}:")), [])


def test_groups(remote: Target) -> None:
    """Every way to ask for a group gives just that, is previewed the same, and is stable then."""
    table = remote.state.parents[2] / "etc/group"
    with table.open("a", encoding="utf-8") as file:
        file.write("moved:x:4200:bob\ngone:x:4300:\n")
    before = table.read_bytes()
    preview = remote.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert table.read_bytes() == before
    assert {event["prediction"] for event in preview.events} == {"certain"}
    done = remote.push(ALL)
    assert done.code == 0, done.output
    assert remote.statuses(done) == remote.statuses(preview)
    assert entry(remote, "team") == ["team", "x", "4100", ""]
    assert entry(remote, "moved") == ["moved", "x", "4201", "bob"]
    assert int(entry(remote, "any")[2]) >= 1000
    assert int(entry(remote, "daemons")[2]) < 1000
    assert entry(remote, "gone") == []
    found = remote.look("theirs")
    assert found is not None
    assert found.group == int(entry(remote, "any")[2])

    again = remote.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(remote.statuses(again).values()) == {"stable"}
