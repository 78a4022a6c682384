"""A push of a part of a manifest: what it leaves out, and what that leaves for the next one."""

import json

from tests.push.command import Ccm, Run
from tests.push.target import Target

SITE = """\
data: {word: parent}
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/conf: {content: "WORD\\n", tags: [web], alias: conf}
        - "DIR/{{ Host.name }}": {content: "1", control: {if: "Host.name != 'web1'"}, tags: [web]}
        - DIR/other: {content: "WORD\\n"}
    - apply:
        - child.yaml: {data: {word: "{{ Data.word }}"}, tags: [child]}
    - exec:
        - restart: {command: "echo >> DIR/restarted", provider: shell, refresh_only: true,
                    subscribe: ["file#conf"], require: ["file#DIR/other"]}
"""
CHILD = """\
data: {word: none}
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/below: {content: "{{ Data.word }}\\n"}
        - DIR/slow: {content: "1\\n", tags: [slow]}
"""


def push(target: Target, word: str, *options: str) -> Run:
    target.ccm.site(target.filled(CHILD), "child.yaml")
    return target.push(SITE.replace("WORD", word), *options)


def test_a_part_and_then_the_whole(target: Target) -> None:
    """A part is done and the rest is not; what it leaves due is fired by the next whole push."""
    part = push(target, "1", "--tags", "web,child,-slow")
    assert part.code == 0, part.output
    assert target.names() == ["below", "conf"]
    assert target.read("below") == "parent\n"
    assert target.statuses(part) == {
        "file#conf": "changed",
        "file#web1": "skipped",
        "file#other": "skipped",
        "apply#child.yaml": "changed",
        "file#below": "changed",
        "file#slow": "skipped",
        "exec#restart": "skipped",
    }
    reasons = {name: e.get("left_out") for name, e in part.of("web1").items()}
    assert reasons.pop(target.id("file#web1")) is None  # control says so, whatever is chosen
    assert [reason for reason in reasons.values() if reason] == ["tags"] * 3
    since = target.event(part, "exec#restart")["due_since"]
    assert since == target.event(part, "exec#restart")["run_id"]
    assert "changed in this run, but the refresh of exec#restart is still pending" in part.output

    again = push(target, "1", "--tags", "web")
    assert "changed" not in target.statuses(again).values()
    assert target.event(again, "exec#restart")["due_since"] == since

    whole = push(target, "1")
    restart = target.event(whole, "exec#restart")
    assert (restart["refreshed"], restart["due_since"]) == (True, since)
    assert target.read("restarted") == "\n"
    assert target.names() == ["below", "conf", "other", "restarted", "slow"]
    quiet = push(target, "1")
    assert set(target.statuses(quiet).values()) == {"stable", "skipped"}
    assert target.read("restarted") == "\n"


def test_what_is_remembered(target: Target) -> None:
    """A part between two whole pushes hides no drift, and the next whole push mends it."""
    assert push(target, "1").code == 0
    assert push(target, "1").code == 0  # the same plan again: nothing is looked up
    target.write("other", "theirs")
    assert push(target, "1", "--only", "file#conf").code == 0
    assert push(target, "2", "--only", "file#conf").code == 0
    site = str(target.ccm.site(target.filled(SITE.replace("WORD", "2"))))
    told = target.ccm.run("drift", "-i", str(target.inventory), "-l", "web1", "--json", site)
    events = {e["name"].rpartition("/")[2]: e for e in json.loads(told.stdout)["events"]}
    drifted = {name: e["drift"]["by"] for name, e in events.items() if "drift" in e}
    assert (drifted["other"], drifted.get("conf")) == ("both", None)
    whole = push(target, "2")
    assert target.event(whole, "file#other")["changed"]
    assert target.event(whole, "exec#restart")["refreshed"]
    assert target.read("other") == "2\n"


def test_noop_is_inert(target: Target) -> None:
    """The preview of a part shows what that would do, and changes nothing."""
    preview = push(target, "1", "--noop", "--only", "file#conf", "-v")
    assert preview.code == 0
    assert target.names() == []
    assert target.event(preview, "file#conf")["changed"]
    assert "excluded by --only" in preview.stdout


def test_how_a_run_is_told(local: Target) -> None:
    """Every report of a run says of which part it was."""
    ccm = local.ccm
    done = push(local, "1", "--only", "file#conf", "--skip", "apply", "--json")
    selection = {"only": ["file#conf"], "skip": ["apply"]}
    assert json.loads(done.stdout)["selection"] == selection
    part = "--only='file#conf' --skip=apply"
    assert part in ccm.run("report").stdout.splitlines()[0]
    html = ccm.run("report", "--html", "-").stdout
    assert "Part of the manifest: <code>--only=&#39;file#conf&#39; --skip=apply</code>" in html
    assert "--skip=apply" in ccm.run("report", "--markdown", "-").stdout
    assert json.loads(ccm.run("report", "--json").stdout)["selection"] == selection
    assert "excluded by --only" in ccm.run("report", "-v").stdout
    assert "site.yaml (part)" in ccm.run("runs").stdout
    push(local, "1", "--noop", "--only", "file#conf")
    assert "site.yaml (part, noop)" in ccm.run("runs").stdout


def test_what_no_host_has(local: Target) -> None:
    """What could be meant on some host and is on none is told at the end, in the record too."""
    done = push(local, "1", "--only", "file#DIR/web7".replace("DIR", local.directory))
    assert done.code == 0
    for told in (done.output, local.ccm.run("report").stdout):
        assert "matches no resource of any host" in " ".join(told.split())


def test_refused(ccm: Ccm, local: Target) -> None:
    """A selection that chooses nothing is refused before any host is contacted."""
    for options, told in (
        (("--only", "file#cnf"), "did you mean file#conf?"),
        (("--tags", "wbe"), "did you mean web?"),
        (("--skip", "fiel"), "did you mean file?"),
    ):
        done = push(local, "1", *options)
        assert (done.code, done.stdout, local.names()) == (2, "", [])
        assert told in done.stderr


def test_verify(local: Target) -> None:
    """A verify looks at the same part: what was left out fails nothing, and is counted."""
    push(local, "1", "--only", "file#conf")
    site = str(local.ccm.site(local.filled(SITE.replace("WORD", "1"))))
    words = ("verify", "-i", str(local.inventory), site)
    assert local.ccm.run(*words).code == 1
    part = local.ccm.run(*words, "--only", "file#conf")
    assert part.code == 0, part.output
    assert "excluded by --only" in part.output
    done = push(local, "2", "--only", "file#conf", "--verify")
    assert done.code == 0, done.output


NEEDY = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/there: {content: "1"}
        - DIR/missing: {content: "1"}
    - exec:
        - once: {command: touch DIR/made, creates: DIR/made}
        - always: {command: touch DIR/made}
    - file:
        - DIR/last: {content: "1", owner: OWNER, group: GROUP, mode: "0644",
                     require: ["file#DIR/there", "file#DIR/missing", exec#once, exec#always]}
"""


def test_what_a_part_leaves_undone(target: Target) -> None:
    """A preview names what is required, left out and not as desired; a push does the part."""
    target.write("there", "1")
    options = ("--only", target.id("file#last"))
    preview = target.push(NEEDY, "--noop", *options)
    assert preview.code == 0
    stands = {name: event.get("left_as") for name, event in preview.of("web1").items()}
    assert list(stands.values()) == ["as_desired", "differs", "differs", "unknown", None]
    assert target.event(preview, "file#last")["prediction"] == "certain"
    told = " ".join(preview.stdout.split())
    assert "2 required resources not in the desired state" in told
    assert "1 required resource in an unknown state" in told
    assert "excluded by --only, required but not in the desired state" in told
    assert "there left out" not in told
    assert target.names() == ["there"]
    pushed = target.push(NEEDY, *options)
    assert target.statuses(pushed)["file#last"] == "changed"
    assert not any("left_as" in event for event in pushed.events)
    assert target.names() == ["last", "there"]


def test_a_plan_of_a_part(target: Target) -> None:
    """A plan keeps its selection: it is pushed as it was made, and takes no other."""
    ccm, only = target.ccm, ("--only", target.id("file#last"))
    site = str(ccm.site(target.filled(NEEDY)))
    words = ("plan", "-i", str(target.inventory), "-l", "web1", "-o", "part.plan")
    assert ccm.run(*words, *only, site).code == 0
    shown = ccm.run("plan", "show", "part.plan").stdout
    assert f"part of the manifest: --only='{target.id('file#last')}'" in shown
    assert "required but not in the desired state" in shown
    assert "Part of the manifest" in ccm.run("plan", "show", "--html", "-", "part.plan").stdout
    for given in (only, ("--tags", "web"), ("--skip", "exec")):
        refused = ccm.run("push", *given, "part.plan")
        assert refused.code == 2
        assert f"{given[0]} is fixed by the plan" in refused.stderr
    whole = ccm.run(*words[:-1], "whole.plan", site)
    assert whole.code == 0
    # What was left out may change meanwhile: nothing is done about it.
    target.write("missing", "theirs")
    done = ccm.run("push", "--json", "part.plan")
    assert done.code == 0, done.output
    document = json.loads(done.stdout)
    assert document["selection"] == {"only": [target.id("file#last")]}
    assert document["summary"]["as_predicted"] == document["summary"]["compared"] == 5
    assert target.names() == ["last", "missing"]
    assert ccm.run("push", "whole.plan").code == 1  # the host is not as that plan found it
