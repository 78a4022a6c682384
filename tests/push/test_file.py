"""Files and directories as a push leaves them, looked at from outside; over SSH and locally."""

import hashlib
import os

from tests.push.target import Target

ALL = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/text: {content: "héllo\\n"}
        - DIR/no-newline: {content: "no newline"}
        - DIR/nothing: {content: ""}
        - DIR/bare: {mode: "0600"}
        - DIR/relative: {source: files/data.bin}
        - DIR/copied: {source: DIR/there}
        - DIR/kept: {mode: "0640"}
        - DIR/short-mode: {content: x, mode: "640"}
        - DIR/long-mode: {content: x, mode: "0o600"}
        - DIR/a/b/c: {ensure: directory, mode: "0640"}
        - DIR/a/b/c/inside: {contents: "inside\\n"}
        - DIR/was-there: {ensure: directory, mode: "0700"}
        - DIR/linked-directory: {ensure: directory, mode: "0750"}
        - DIR/gone: {ensure: absent}
        - DIR/gone-link: {ensure: absent}
        - DIR/gone-empty: {ensure: absent}
        - DIR/gone-tree: {ensure: absent, force: true}
        - DIR/never: {ensure: absent}
        - DIR/link: {content: "no link any more\\n"}
        - DIR/dangling: {content: "was dangling\\n"}
        - DIR/by-id: {content: x, owner: "UID", group: "GID"}
        - DIR/checked: {content: "good\\n", validate: "grep -q good {}"}
        - DIR/with space 'quoted': {content: "odd name\\n"}
"""

BINARY = bytes(range(256)) * 5000


def prepare(target: Target) -> None:
    """Put on the host what the resources of ALL find there."""
    (target.ccm.scratch / "files").mkdir()
    (target.ccm.scratch / "files/data.bin").write_bytes(BINARY)
    target.write("there", "on the target\n")
    target.write("kept", "its content stays\n", 0o666)
    target.write("victim", "never written through\n")
    for name in ("gone", "gone-tree/deep/file"):
        target.write(name, "x")
    for name in ("gone-empty", "was-there", "led-to"):
        target.path(name).mkdir()
    for name, to in (("gone-link", "victim"), ("link", "victim"), ("dangling", "nowhere")):
        os.symlink(to, target.path(name))
    os.symlink("led-to", target.path("linked-directory"))


def filled(site: str) -> str:
    return site.replace("UID", str(os.getuid())).replace("GID", str(os.getgid()))


def test_files_and_directories(target: Target) -> None:
    """Every way to ask for a file gives just that, is previewed the same, and is stable then."""
    prepare(target)
    before = target.names()
    preview = target.push(filled(ALL), "--noop")
    assert preview.code == 0, preview.output
    assert target.names() == before
    assert all(e["prediction"] == "certain" for e in preview.events)
    said = {e["name"].rsplit("/t/", 1)[1]: e.get("noop_message", "") for e in preview.events}
    assert said["text"] == said["link"] == said["copied"] == "Would have created the file"
    assert said["bare"] == "Would have created an empty file with requested attributes"
    assert said["kept"] == "Would have updated attributes"
    assert said["a/b/c"] == "Would have created directory"
    assert said["gone"] == said["gone-link"] == "Would have removed the file"
    assert said["gone-empty"] == "Would have removed the directory"
    assert said["gone-tree"] == "Would have recursively removed the directory"
    assert said["never"] == ""

    done = target.push(filled(ALL))
    assert done.code == 0, done.output
    assert target.statuses(done) == target.statuses(preview)
    assert target.statuses(done)["file#never"] == "stable"
    look(target)

    again = target.push(filled(ALL), "--detailed-exitcode")
    assert again.code == 0, again.output
    assert set(target.statuses(again).values()) == {"stable"}


def look(target: Target) -> None:
    """Everything is as ALL says."""
    assert target.path("text").read_bytes() == "héllo\n".encode()
    assert target.path("no-newline").read_bytes() == b"no newline"
    assert target.path("nothing").read_bytes() == target.path("bare").read_bytes() == b""
    assert target.path("relative").read_bytes() == BINARY
    assert target.read("copied") == "on the target\n"
    assert target.read("kept") == "its content stays\n"
    assert target.read("a/b/c/inside") == "inside\n"
    assert target.read("with space 'quoted'") == "odd name\n"
    assert target.read("checked") == "good\n"
    modes = {"text": 0o644, "bare": 0o600, "kept": 0o640, "short-mode": 0o640, "long-mode": 0o600}
    modes |= {"a": 0o750, "a/b": 0o750, "a/b/c": 0o750, "was-there": 0o700, "led-to": 0o750}
    for name, mode in modes.items():
        found = target.look(name)
        assert found is not None, name
        assert (found.mode, found.owner, found.group) == (mode, os.getuid(), os.getgid()), name
    assert not [n for n in target.names() if n.startswith(("gone", "never", "."))]
    assert target.read("victim") == "never written through\n"
    for name, text in (("link", "no link any more\n"), ("dangling", "was dangling\n")):
        found = target.look(name)
        assert found is not None, name
        assert found.kind == "file"
        assert target.read(name) == text
    assert not target.path("nowhere").exists()
    assert os.readlink(target.path("linked-directory")) == "led-to"


REFUSED = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/full: {ensure: absent}
        - DIR/directory: {content: x}
        - DIR/file: {ensure: directory}
        - DIR/link: {mode: "0600"}
        - DIR/linked-file: {ensure: directory}
        - DIR/file/below: {content: x}
        - DIR/no/parent: {content: x}
        - DIR/pipe: {content: x}
        - DIR/copied: {source: DIR/missing}
        - DIR/copied-directory: {source: DIR/directory}
        - DIR/owned: {content: x, owner: nobody-like-that}
        - DIR/grouped: {content: x, group: nobody-like-that}
        - DIR/checked: {content: "bad\\n", validate: "grep -q good {}"}
        - DIR/unchecked: {content: "bad\\n", validate: "/no/such/checker {}"}
        - DIR/last: {content: "still written\\n"}
"""

REASONS = {
    "full": "is not empty",
    "directory": "is a directory, not a file",
    "file": "is a file, not a directory (use another path; ccm does not replace a file",
    "link": "symlink",
    "linked-file": "is a symlink, not a directory",
    "file/below": "is not a directory",
    "no/parent": "parent directory",
    "pipe": "device, socket or pipe",
    "copied": "does not exist on this host",
    "copied-directory": "not a regular file",
    "owned": "nobody-like-that",
    "grouped": "nobody-like-that",
    "checked": "validation",
    "unchecked": "/no/such/checker",
}


def test_what_is_refused_leaves_all_as_it_was(target: Target) -> None:
    """A refusal fails its resource with the reason, in a preview too, and touches nothing."""
    for name in ("full/file", "file", "checked", "unchecked"):
        target.write(name, "old\n")
    target.path("directory").mkdir()
    os.symlink("file", target.path("link"))
    os.symlink("file", target.path("linked-file"))
    os.mkfifo(target.path("pipe"))
    before = {name: target.look(name) for name in target.names()}
    preview = target.push(REFUSED, "--noop")
    assert preview.code == 1, preview.output
    done = target.push(REFUSED)
    assert done.code == 1, done.output
    for run, known in ((preview, set(REASONS) - {"checked", "unchecked"}), (done, set(REASONS))):
        for name in known:
            event = target.event(run, f"file#{name}")
            assert event["failed"], name
            assert not event["changed"], name
            assert REASONS[name] in event["error"][0], event["error"]
    assert target.read("last") == "still written\n"
    assert {name: target.look(name) for name in target.names() if name != "last"} == before
    for name in ("full/file", "file", "checked", "unchecked"):
        assert target.read(name) == "old\n"


DRIFTED = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/text: {content: "one\\ntwo\\nthree\\n"}
        - DIR/binary: {source: binary}
        - DIR/big: {source: big}
        - DIR/private: {content: "new private line\\n", mode: "0600"}
        - DIR/was-private: {content: "once private\\n"}
        - DIR/mode: {content: "same\\n"}
"""


def test_changes_are_recorded(target: Target) -> None:
    """A change says what, from and to; its diff is bounded, and private files have none."""
    (target.ccm.scratch / "binary").write_bytes(b"\0new")
    (target.ccm.scratch / "big").write_bytes(b"line\n" * 60_000)

    def drift() -> None:
        target.write("text", "one\n2\nthree\n")
        target.write("binary", b"\0old")
        target.write("big", "was small\n")
        target.write("private", "old private line\n", 0o600)
        target.write("was-private", "old secret\n", 0o600)
        target.write("mode", "same\n", 0o666)

    drift()
    preview = target.push(DRIFTED, "--noop")
    done = target.push(DRIFTED)
    assert (preview.code, done.code) == (0, 0), preview.output + done.output
    records = {
        name: target.event(done, f"file#{name}")["changes"]
        for name in ("text", "binary", "big", "private", "was-private", "mode")
    }
    assert records == {name: target.event(preview, f"file#{name}")["changes"] for name in records}
    new = hashlib.sha256(b"one\ntwo\nthree\n").hexdigest()
    (text,) = records["text"]
    assert (text["what"], text["to"]) == ("content", f"sha256:{new}")
    assert "\n-2\n+two\n" in text["diff"]
    assert records["binary"][0]["diff"] == "binary"
    assert "too large for a diff" in records["big"][0]["diff"]
    assert "300000 bytes" in records["big"][0]["diff"]
    assert "diff" not in records["private"][0]
    assert "diff" not in records["was-private"][0]
    assert records["mode"] == [{"what": "mode", "from": "0666", "to": "0644"}]
    assert "-2" in preview.stdout
    assert "+two" in preview.stdout
    for run in (preview, done):
        assert "private line" not in run.output
        assert "old secret" not in run.output

    drift()
    assert "+two" not in target.push(DRIFTED, "--noop", "--no-diff").stdout
    shown = target.push(DRIFTED, "--noop", "--diff-private")
    assert "-old private line" in shown.stdout
    assert "-old secret" in shown.stdout


WHOLE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/tree: {ensure: directory, mode: "0750", file_mode: "0640", recurse: true}
        - DIR/conf: {ensure: directory, mode: "0755", purge: true, keep: ["*.local"]}
        - DIR/conf/app: {content: "new\\n", backup: true}
        - DIR/seed: {content: "first\\n", replace: false}
"""


def test_what_is_in_a_directory(target: Target) -> None:
    """A preview lists what the push changes and removes below, and the second push is stable."""
    for name in ("tree/a", "tree/sub/b", "conf/app", "conf/old/x", "conf/k.local", "seed"):
        target.write(name, "old\n")
    os.symlink("/nowhere", target.path("tree/link"))
    preview = target.push(WHOLE, "--noop")
    done = target.push(WHOLE)
    assert (preview.code, done.code) == (0, 0), preview.output + done.output
    for name in ("tree", "conf", "conf/app", "seed"):
        events = [target.event(run, f"file#{name}") for run in (preview, done)]
        assert events[0]["changes"] == events[1]["changes"]
        assert events[0]["prediction"] == "certain"
    gone = target.event(done, "file#conf")["changes"]
    assert [change["what"] for change in gone if change["to"] == "absent"] == [
        f"{target.directory}/conf/old/x",
        f"{target.directory}/conf/old",
    ]
    assert os.stat(target.path("tree/sub/b")).st_mode & 0o777 == 0o640
    assert target.read("conf/.app.~1~") == target.read("seed") == "old\n"
    assert set(target.statuses(target.push(WHOLE)).values()) == {"stable"}
