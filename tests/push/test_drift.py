"""Who has made a host differ from what was applied to it last."""

import json
import re
import time

import pytest

from tests.push.command import Run
from tests.push.target import Target

SITE = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/theirs: {content: "1"}
        - DIR/mine: {content: "WORD"}
        - DIR/both: {content: "WORD"}
        - DIR/same: {content: "1"}
        - DIR/late: {content: "1", control: {if: "Data.late"}}
    - exec:
        - always: {command: "true"}
        - once: {command: touch DIR/made, creates: DIR/made}
        - follower: {command: "true", refresh_only: true, subscribe: ["file#DIR/theirs"]}
data:
  late: false
"""


def drift(target: Target, site: str, *options: str) -> Run:
    path = target.ccm.site(target.filled(site))
    return target.ccm.run("drift", "-i", str(target.inventory), "-l", "web1", *options, str(path))


@pytest.mark.long("local")
def test_three_ways(target: Target) -> None:
    """Someone, you, both and new are told apart; what always would run is no drift."""
    site = SITE.replace("WORD", "1")
    never = drift(target, site)
    assert never.code == 4
    assert "never applied" in never.stdout
    assert target.push(site).code == 0
    quiet = drift(target, site)
    assert quiet.code == 0, quiet.output
    assert "no drift" in quiet.stdout
    assert "1 not compared" in quiet.stdout
    assert "would change" not in quiet.stdout
    assert "always" not in quiet.stdout

    target.write("theirs", "2")
    target.write("both", "2")
    target.path("made").unlink()
    later = SITE.replace("WORD", "3").replace("late: false", "late: true")
    told = drift(target, later, "--json")
    assert told.code == 4
    document = json.loads(told.stdout)
    assert (document["command"], document["exit_code"]) == ("drift", 4)
    assert document["summary"]["drifted"] == 5
    events = {e["name"].rpartition("/")[2]: e.get("drift", {}) for e in document["events"]}
    by = {name: found.get("by") for name, found in events.items()}
    assert by == {
        "theirs": "someone",
        "mine": "you",
        "both": "both",
        "same": None,
        "late": "new",
        "always": None,
        "once": "someone",
        "follower": None,
    }
    theirs = events["theirs"]
    assert theirs["owner"] == target.owner
    assert theirs["changed"].startswith("20")
    assert "@" in theirs["user"]
    report = target.ccm.run("report")
    for run in (drift(target, later), report):
        assert "changed on the host" in run.stdout, run.output
        assert f"owner {target.owner}" in run.stdout
        assert "changed on the host and in the manifest (1)" in run.stdout
        assert "last applied" in run.stdout
    html = target.ccm.run("report", "--html", "-").stdout
    assert "Drifted</h2>" in html
    assert "changed on the host; a push would" in html
    assert 'data-resource="file#' in html.partition("Drifted</h2>")[2]
    assert '<details class="finding changed" data-resource="exec#always' not in html
    assert (
        "changed on the host and in the manifest"
        in target.ccm.run("report", "--markdown", "-").stdout
    )
    metrics = target.ccm.run("report", "--metrics", "-").stdout
    assert re.search(r"resource_state_drifted_count\{[^}]*/theirs\"[^}]*\} 1\.0", metrics)
    assert "(drift)" in target.ccm.run("runs").stdout
    assert target.read("theirs") == "2"
    assert target.push(later).code == 0
    assert drift(target, later).code == 0


TREE = """\
ccm:
  resources:
    - scaffold:
        - DIR/tree: {source: tree, engine: jinja}
"""


def test_reports_count_as_the_terminal_does(local: Target) -> None:
    """What always would run is no drift in the Markdown report and in the list of runs, either."""
    site = SITE.replace("WORD", "1")
    assert local.push(site).code == 0
    assert drift(local, site).code == 0
    markdown = local.ccm.run("report", "--markdown", "-").stdout
    assert "1 not compared" in markdown
    assert "would change" not in markdown
    assert local.ccm.run("runs", "-n", "1").stdout.splitlines()[1].split()[5] == "0"


def test_a_scaffold_is_dated_by_its_files(target: Target) -> None:
    """The date and the owner are those of the file that differs, and the file is named."""
    (target.ccm.scratch / "tree/sub").mkdir(parents=True)
    for name in ("a", "sub/b", "c"):
        (target.ccm.scratch / "tree" / name).write_text(name)
    assert target.push(TREE).code == 0
    target.write("tree/sub/b", "theirs")
    (written,) = json.loads(drift(target, TREE, "--json").stdout)["events"]
    found = written["drift"]
    assert (found["by"], found["owner"]) == ("someone", target.owner)
    assert found["path"].endswith("/tree/sub/b")
    status = target.path("tree/sub/b").stat()
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(status.st_ctime_ns // 10**9))
    assert found["changed"] == at
    assert f"last changed: {at}, sub/b, owner {target.owner}" in drift(target, TREE).stdout
    assert target.push(TREE).code == 0
    target.path("tree/a").unlink()
    (gone,) = json.loads(drift(target, TREE, "--json").stdout)["events"]
    assert gone["drift"]["path"].endswith("/tree/a")
    assert "owner" not in gone["drift"]


def everything(target: Target) -> list[tuple[str, int, int]]:
    """All that a look may not change: the host's files and what it remembers."""
    remembered = target.path("").parents[1] / "var/lib/ccm"  # there is none of a local connection
    found = [*target.path("").rglob("*"), *remembered.rglob("*")]
    return sorted((str(path), path.lstat().st_mtime_ns, path.lstat().st_ino) for path in found)


def test_it_is_inert_and_keeps_secrets(target: Target) -> None:
    """A look changes nothing on the host, and what is secret stands nowhere."""
    site = """\
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "0600"}
        - DIR/quiet: {content: "sesame-new", sensitive: true}
        - DIR/key: {content: "{{ Data.password }}"}
        - DIR/gone: {ensure: absent}
    - exec: [{touch DIR/guarded: {unless: "test -e DIR/quiet"}}]
data:
  # @secret
  password: hunter2-hunter2
"""
    assert target.push(site).code == 0
    target.write("quiet", "sesame-old", 0o600)
    target.write("key", "hunter3")
    target.write("gone", "")
    before = everything(target)
    told = drift(target, site, "--diff-private", "--json")
    assert (told.code, everything(target)) == (4, before)
    document = json.loads(told.stdout)
    by = {event["name"].rpartition("/")[2]: event.get("drift") for event in document["events"]}
    assert [name for name, found in by.items() if found] == ["quiet", "key", "gone"]
    directory = target.ccm.scratch / "state/ccm/runs" / document["run_id"]
    kept = b"".join(path.read_bytes() for path in directory.iterdir() if path.is_file())
    assert b'"drift"' in kept
    for sink in (
        told.stdout.encode(),
        kept,
        target.ccm.run("report", "--html", "-").stdout.encode(),
    ):
        assert b"sesame" not in sink
        assert b"hunter2" not in sink


def test_a_fleet(local: Target) -> None:
    """Hosts with the same drift are told together, and each is counted."""
    site = SITE.replace("WORD", "1")
    local.push(site)
    local.inventory.write_text("hosts: {web1: {connection: local}, web2: {connection: local}}")
    local.write("theirs", "2")
    path = local.ccm.site(local.filled(site))
    told = local.ccm.run("drift", "-i", str(local.inventory), str(path))
    assert told.code == 4
    assert "web[1-2] (2 hosts)" in told.stdout
    assert "on 2 hosts: changed on the host (2)" in told.stdout
    assert told.stdout.count("differs  file#") == 1
    assert told.stdout.count("changed on the host; a push would change") == 1


def test_of_a_part(target: Target) -> None:
    """What is chosen is compared and no more; a tag or a name that nothing has is refused."""
    site = SITE.replace("WORD", "1").replace(
        'theirs: {content: "1"', 'theirs: {tags: [web], content: "1"'
    )
    assert target.push(site).code == 0
    target.write("theirs", "2")
    target.write("same", "2")
    told = json.loads(drift(target, site, "--json", "--tags", "web").stdout)
    assert told["selection"] == {"tags": ["web"]}
    events = {e["name"].rpartition("/")[2]: e for e in told["events"]}
    assert [name for name, event in events.items() if event.get("drift")] == ["theirs"]
    assert events["same"]["left_out"] == "tags"
    others = drift(target, site, "--skip", "file#*/theirs", "--skip", "file#*/same")
    assert others.code == 0, others.output
    assert "no drift" in others.stdout
    refused = drift(target, site, "--tags", "wbe")
    assert refused.code == 2
    assert "did you mean web?" in refused.stderr
    assert drift(target, site).code == 4


def test_it_is_not_told_what_to_do(local: Target) -> None:
    """Options that only a push could heed are refused."""
    site = "ccm: {resources: [{exec: ['true']}]}"
    for option in ("--noop", "--monitor-only", "--detailed-exitcode"):
        assert drift(local, site, option).code == 2


def test_a_mistake_is_no_drift(target: Target) -> None:
    """A resource that cannot be looked at fails the run, and the drift of its host is unknown."""
    site = SITE.replace("WORD", "1")
    target.push(site)
    broken = site.replace("DIR/same: {content", "DIR/no/such/folder: {content")
    done = drift(target, broken)
    assert done.code == 1
    assert "unknown on 1 host" in done.stdout
    assert "no drift" not in done.stdout


def test_packages_and_files_of_packages(remote: Target) -> None:
    """A file of a package is told with it, and a package that was removed as someone's doing."""
    site = """\
ccm:
  resources:
    - package: [{ccm-hello: {ensure: present}}]
    - file:
        - /usr/share/ccm-hello/version: {content: "mine", owner: root, group: root, mode: "0644"}
"""
    assert remote.push(site).code == 0
    remote.ccm.run("ensure", "exec", "sh -c 'echo 2 > /usr/share/ccm-hello/version'",
                   "-i", str(remote.inventory), "-l", "web1")  # fmt: skip
    document = json.loads(drift(remote, site, "--json").stdout)
    events = {event["name"]: event.get("drift", {}) for event in document["events"]}
    assert events["ccm-hello"] == {}
    told = events["/usr/share/ccm-hello/version"]
    assert (told["by"], told["package"], told["owner"]) == ("someone", "ccm-hello", "root")
