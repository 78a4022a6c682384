"""A run as Markdown."""

import io
import re

import pytest

from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.files.markdown import (
    MAX_CHARACTERS,
    cell,
    code,
    fence,
    inline,
    write_markdown,
)
from tests.orchestrator.report.runs import DIFF, Kept, held_run, mixed_run


def markdown(kept: SavedRun) -> str:
    out = io.StringIO()
    write_markdown(kept, out)
    return out.getvalue()


def test_trouble_comes_first_and_changes_have_their_diffs() -> None:
    """Totals, hosts in trouble, failures, then changes of which hosts, once each."""
    text = markdown(mixed_run())
    assert text.startswith(
        "## Push of `site.yaml`\n\n8 hosts: 1 failed, 1 unreachable, 6 changed. 73 "
    )
    assert text.index("does not answer") < text.index("### Failures") < text.index("### Changes")
    assert "- `file#/etc/motd` on `web[1-7]` (7 hosts)\n  ```diff\n" in text
    assert text.count("+new web") == 1
    assert "### Dangerous" not in text


def test_a_change_of_files_with_own_values_is_shown_once() -> None:
    """One example stands for contents that differ in names and addresses; others stay apart."""
    kept = Kept("web1", "web2", "web3")
    for number in (1, 2, 3):
        diff = DIFF.format(host=f"web{number} 192.0.2.{number}")
        kept.rewritten(f"web{number}", "/etc/motd", number, diff)
        kept.rewritten(f"web{number}", "/etc/private", number, "")
    text = markdown(kept.end())
    assert text.count("+new web") == 1
    assert "\n\n  Shown for web1; 3 variants differ only in host-specific values.\n" in text
    assert text.count("- `file#/etc/private` on web") == 3


def test_a_line_about_several_hosts_is_true_of_each() -> None:
    """A name of its own in a resource or a value is not that of the first host."""
    kept = Kept("web1", "web2")
    for host in ("web1", "web2"):
        change = {"what": "command", "from": None, "to": f"/bin/echo {host}"}
        kept.event(host, f"say {host}", "changed", type="exec", changes=[change])
    text = markdown(kept.end())
    assert "- `exec#say {host}` on `web[1-2]` (2 hosts): command: `/bin/echo {host}`\n" in text


def test_a_command_has_results() -> None:
    """As in the terminal, a host is ok: nothing is known to have changed."""
    kept = Kept("web1", command="run")
    kept.event("web1", "true", "changed", type="exec", exit_code=0)
    text = markdown(kept.end())
    assert "\n\n1 host: 1 ok. Took" in text
    assert "### Results" in text


def test_a_preview_says_that_it_is_one() -> None:
    """Nobody takes a preview for a push."""
    text = markdown(mixed_run(noop=True))
    assert text.startswith("## Preview of")
    assert "### Would change" in text


def test_a_preview_begins_with_what_is_dangerous() -> None:
    """Removals and what nobody can tell come before everything else, and act on no forge."""
    kept = Kept("web1", "web2", noop=True)
    gone = [{"what": "ensure", "from": "present", "to": "absent"}]
    for host in ("web1", "web2"):
        kept.event(host, "/etc/@all", "changed", changes=gone, noop=True, prediction="certain")
    kept.event("web1", "/etc/x", "changed", noop=True, prediction="unknown")
    text = markdown(kept.end())
    assert (
        "\n### Dangerous\n\n2 removals\n\n- remove `file#/etc/@all` on `web[1-2]` (2 hosts)\n"
        "- unknown effects: 1 resource on 1 host cannot be predicted in full\n"
    ) in text
    assert text.index("### Dangerous") < text.index("### Would change")


def test_a_value_is_one_code_span() -> None:
    """Its words are not split into code and text; a plain word stays one."""
    kept = Kept("web1", noop=True)
    line = {"what": "line", "from": "5 * * * * true", "to": "6 * * * * @all"}
    mode = {"what": "ensure", "from": "absent", "to": "present"}
    kept.event("web1", "/etc/x", "changed", changes=[line, mode], noop=True)
    text = markdown(kept.end())
    assert "line: `5 * * * * true` → `6 * * * * @all`; ensure: absent → present\n" in text


def test_what_hosts_say_is_no_markup() -> None:
    """Neither a table, nor a mention, nor a fence of a host's text reaches the page as such."""
    kept = Kept("web1", "web2")
    kept.event("web1", "/etc/x", "failed", error=["```\n<script>alert(1)</script>\n````"])
    kept.event("web1", "/etc/`tick`", "failed", error=["no"])
    text = markdown(kept.end(web2={"outcome": "unreachable", "message": "a | b @root <b>\n#1"}))
    assert "| web2 | unreachable | a `\\|` b `@root <b>; #1` |" in text
    assert "  `````\n  ```\n  <script>alert(1)</script>\n  ````\n  `````\n" in text
    assert "- `` file#/etc/`tick` `` on web1" in text


def test_it_fits_into_a_comment() -> None:
    """Beyond what a comment takes, whole pieces are left out, and the text says so."""
    kept = Kept("web1")
    for number in range(3_000):
        kept.changed("web1", f"/etc/{number}", f"--- a\n+++ b\n-{number}\n+x\n")
    text = markdown(kept.end())
    assert len(text) <= MAX_CHARACTERS
    assert text.endswith("_More in `ccm report 20260921T133640Z-aaaaaa`._\n")
    assert text.count("```") % 2 == 0


def test_many_hosts_make_no_long_word() -> None:
    """Hosts without an order are cut between two of them and counted; one host is one."""
    names = [f"h{number}" for number in range(1, 600, 2)]
    kept = Kept(*names)
    for name in names:
        kept.changed(name, "/x")
    text = markdown(kept.end())
    assert "(300 hosts): " in text
    assert max(map(len, text.split())) <= 100
    kept = Kept("h1", run_id="20260921T133641Z-aaaaaa")
    kept.event("h1", "/x")
    assert "\n1 host: 1 unchanged. 1 resource: 1 unchanged. " in markdown(kept.end())


def test_failures_are_told_once() -> None:
    """What failed alike on many hosts stands before them, with what picks these hosts."""
    names = [f"web{number}" for number in range(1, 41)]
    kept = Kept(*names)
    for number, name in enumerate(names):
        error = ["exit code 1, expected 0", f"<b> could not connect to db{number % 3}"]
        kept.event(name, "migrate", "failed", type="exec", error=error, exit_code=1)
    text = markdown(kept.end())
    assert text.count("### Failures") == 1
    assert text.partition("### Failures")[2] == (
        "\n\n- `exec#migrate` failed on 40 hosts: `web[1-40]`\n"
        "  ```\n"
        "  on web1: exit code 1, expected 0\n"
        "  \\<b\\> could not connect to db0\n"
        "  ```\n"
        "\n"
        "  others: `db[1-2]` (3 texts)\n"
        "\n"
        "  → retry with: `ccm push -l 'web[1-40]' -i hosts.yaml /srv/site/site.yaml`\n"
    ).replace("\\<b\\>", "<b>")


def test_failures_of_single_hosts_are_told_where_they_stand() -> None:
    """Where each host failed for a reason of its own there is nothing to put together."""
    assert " failed on " not in markdown(mixed_run()).partition("### Failures")[2]


def test_a_rollout_says_where_it_was_held() -> None:
    """The waves, how far each came, why the next did not begin, and how to go on."""
    text = markdown(held_run())
    assert "### Rollout" in text
    assert "- stopped: 1 host failed (limit 0); 2 hosts not started" in text
    assert "- resume with: ccm go" in text
    assert "| 1 | web1 | 1 of 1 finished, 1 failed |" in text
    assert "| 2 | `web[2-3]` (2 hosts) | not started |" in text
    assert "| 2 | `web[2-3]` (2 hosts) |  |" in markdown(held_run(noop=True))
    assert "### Rollout" not in markdown(mixed_run())


def test_an_apply_is_in_no_total() -> None:
    """Of a run of child manifests their own resources are counted and shown, not what applied
    them."""
    kept = Kept("web1", run_id="20260921T133641Z-aaaaaa")
    kept.event("web1", "/etc/motd", "changed", changes=[], manifest="base.yaml")
    kept.event("web1", "base.yaml", "changed", type="apply")
    text = markdown(kept.end())
    assert "1 resource: 1 changed" in text
    assert "apply#" not in text


LIVE = (
    "@everyone",
    "@group/team,",
    "user@example.net",
    "#1",
    "owner/repo#12",
    "!7",
    "&4",
    "$3",
    "%2",
    "~bug",
    "GH-12",
    "gh-12",
    "JIRA-99",
    "deadbeef",
    "0123456789abcdef0123456789abcdef01234567",
    "https://example.net/x?y=1",
    "(http://example.net)",
    "www.example.net",
    "example.net",
    "mailto:a@b.example",
    ":tada:",
    "[x](y)",
    "![x](y)",
    "<b>",
    "&lt;",
    "*x*",
    "_x_",
    "~~x~~",
    "\\@root",
    "+",
    "-",
    "---",
    "=",
    ">",
)


def outside(text: str) -> str:
    """What is left of Markdown on one line without its code spans."""
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("live", LIVE)
@pytest.mark.parametrize("around", ["{}", "see {} there", "``` {}", "a`b {} c``d", "'{}'"])
def test_what_a_forge_acts_on_is_in_a_code_span(live: str, around: str) -> None:
    """Mentions, references, links and markup, with backticks around them too; the text is all
    there."""
    text = around.format(live)
    for shown in (inline(text), cell(text)):
        left = outside(shown)
        assert not re.search(r"[@#!&$~<>\[\]*_\\`+=/]|\w\.\w|\w-\d|beef|cdef|:t", left), shown
        assert not re.fullmatch(r"\s*-+\s*", left), shown
        assert live.strip(".,;:") in shown


@pytest.mark.parametrize("text", ["1. no list", "2) neither", "1."])
def test_text_begins_no_list(text: str) -> None:
    """A number with a dot or a bracket at the beginning begins code, and ends a sentence."""
    assert inline(text).startswith("`")
    assert inline("expected 0, got 1.") == "expected 0, got 1."


def test_sentences_stay_sentences() -> None:
    """Simple words are not code; names and paths are, without the punctuation behind them."""
    assert inline("could  not\nconnect: it's 50% of 1,024") == (
        "could not connect: it's 50% of 1,024"
    )
    assert inline("cannot read /etc/x: no such file") == "cannot read `/etc/x`: no such file"
    assert inline("web[1-3] (3 hosts)") == "`web[1-3]` (3 hosts)"
    assert inline("") == code(" ") == ""


@pytest.mark.parametrize("text", ["a|b", r"x\|@everyone", r"\\\|#1", "|", "`|`", r"`\|`|", "\\"])
def test_a_cell_ends_where_it_should(text: str) -> None:
    """No bar ends a cell: each has one backslash before it, and so has no backslash before that."""
    shown = cell(text)
    assert not re.search(r"(?<!\\)\|", shown)
    assert not re.search(r"\\\\\|", shown)


def test_no_text_ends_its_fence() -> None:
    """The fence is longer than any run of backticks in the text."""
    assert fence("````\n@everyone", "diff") == "`````diff\n````\n@everyone\n`````\n"


def test_long_words_are_read_once() -> None:
    """A word of a million letters takes no time that grows with its square."""
    word = "a-" * 500_000 + "_"
    assert inline(word) == f"`{word}`"
