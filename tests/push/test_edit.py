"""Parts of files as a push leaves them, looked at from outside; over SSH and locally."""

import os

from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - file:
        - DIR/made: {owner: OWNER, group: GROUP, mode: "0640"}
    - edit:
        - DIR/made: {line: "token = {{ Data.token }}", sensitive: true}
        - DIR/hosts: {line: 192.0.2.10 db1, match: '\\sdb1$'}
        - DIR/app.ini:
            settings: {http: {port: 8080, debug: null}, log: {level: "{{ Data.level }}"}}
        - DIR/profile:
            create: true
            block: |
              eval "$(tool init)"
              echo `date` 'x'
        - DIR/link:
            edits:
              - {line: one, after: ^zero}
              - {line: gone, ensure: absent}
              - {match: '(o)ld', replace: '\\1dd'}
        - DIR/left: {line: x, ensure: absent}
        - DIR/checked: {line: good, validate: "grep -q good {}"}
  post_message: done
data: {token: swordfish, level: warn}
"""

AFTER = {
    "made": "token = swordfish\n",
    "hosts": "127.0.0.1 localhost\n192.0.2.10 db1\n",
    "app.ini": "; app\n[http]\nport=8080\n\n[log]\nlevel=warn\n",
    "profile": "# BEGIN managed by ccm\neval \"$(tool init)\"\necho `date` 'x'\n"
    "# END managed by ccm\n",
    "real": "zero\none\nodd\n",
    "left": "y\n",
    "checked": "bad\ngood\n",
}


def test_edits(target: Target) -> None:
    """Every kind of edit is previewed as it is done, is verified, and is stable then."""
    target.write("hosts", "127.0.0.1 localhost\n192.0.2.9 db1\n", 0o600)
    target.write("app.ini", "; app\n[http]\nport=80\ndebug=1\n\n[log]\nlevel=info\n")
    target.write("real", "zero\ngone\nold\n")
    os.symlink("real", target.path("link"))
    target.write("left", "x\ny\n")
    target.write("checked", "bad\n")
    before = {name: target.look(name) for name in target.names()}
    preview = target.push(ALL, "--noop")
    assert preview.code == 0, preview.output
    assert {name: target.look(name) for name in target.names()} == before
    assert {event["prediction"] for event in preview.events} == {"certain"}

    done = target.push(ALL, "--verify")
    assert done.code == 0, done.output
    assert target.statuses(done) == target.statuses(preview)
    assert {name: target.read(name) for name in AFTER} == AFTER
    assert os.readlink(target.path("link")) == "real"
    assert target.look("hosts") == before["hosts"]
    assert "swordfish" not in done.output
    assert "diff" not in target.event(done, "edit#hosts")["changes"][0]
    assert "+level=warn" in target.event(done, "edit#app.ini")["changes"][0]["diff"]

    again = target.push(ALL, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(target.statuses(again).values()) == {"stable"}
