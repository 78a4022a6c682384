"""What a push leaves in the log of a host's own system."""

from tests.lab import Host
from tests.push.target import Target

SITE = """\
data:
  word: s3cr3t-word  # @secret
ccm:
  resources:
    - file: [{DIR/a: {content: "1", owner: OWNER, group: GROUP, mode: "0644"}}]
    - exec: [{"false": {creates: "DIR/{{ lookup('data.word') }}"}}]
"""


def lines(host: Host) -> list[str]:
    """What the journal has of ccm."""
    return host.run("journalctl -q -t ccm -o cat").stdout.splitlines()


def test_one_line_for_a_push_that_changed_something(remote: Target, host: Host) -> None:
    """A push that changed or failed something leaves one line, previews and others leave none."""
    before = len(lines(host))
    remote.push(SITE, "--noop")
    assert len(lines(host)) == before
    done = remote.push(SITE)
    assert len(lines(host)) == before + 1
    line = lines(host)[-1]
    words = dict(word.split("=", 1) for word in line.split())
    assert words["run"] == done.events[0]["run_id"]
    assert "@" in words["user"]
    assert words["from"] != "-"
    assert words["manifest"].endswith("/site.yaml")
    assert (words["changed"], words["failed"], words["end"]) == ("1", "1", "whole")
    assert "s3cr3t" not in line
    remote.push(SITE.replace('"false"', '"true"'))
    assert len(lines(host)) == before + 2
    stable = SITE[: SITE.index("    - exec")]
    assert remote.push(stable).code == 0
    assert len(lines(host)) == before + 2
