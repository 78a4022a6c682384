"""The summary, its grouping, and the plain lines."""

from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.report.summary_texts import printed_lines
from remote_runtime.reporting.masking import MASKED
from tests.orchestrator.report.told import CREATED, DIFF, Told, changed
from tests.texts import expect_text


def test_hosts_with_the_same_outcome_stand_together() -> None:
    """Hosts that changed the same resources are one block, with the change shown once."""
    told = Told("web1", "web2", "web3", "db1")
    for host in ("web1", "web2", "web3"):
        told.event(host, **changed("/etc/motd"))
        told.end(host)
    told.event("db1", "/etc/motd")
    told.end("db1")
    text = told.summary()
    assert "web[1-3] (3 hosts)  1 changed" in text
    assert text.count("file#/etc/motd  content") == 1
    assert "db1  1 unchanged" in text
    assert "Hosts      4: 3 changed, 1 unchanged" in text


def test_failures_come_first_with_reason_and_tail() -> None:
    """A failed host stands before the others, its failed resource before its changes."""
    told = Told("web1", "web2")
    told.event("web1", **changed("/etc/motd"))
    told.end("web1")
    told.event("web2", **changed("/etc/motd"))
    told.event("web2", "/etc/x", "failed", error=["exited with status 3", "E: a\nE: b"])
    told.event("web2", "/etc/y", "skipped", unmet_requirements=["file#/etc/x"])
    told.end("web2", "failed")
    lines = told.summary().splitlines()
    expect_text(lines[1])
    assert [line.strip() for line in lines[2:5]] == ["│ exited with status 3", "│ E: a", "│ E: b"]
    assert lines[7:9] == ["web2  1 failed, 1 changed, 1 skipped", "web1  1 changed"]
    expect_text(lines[10:12])


def test_a_diff_that_many_hosts_share_is_shown_once() -> None:
    """In a preview a change appears once with its hosts, also when they differ elsewhere."""
    told = Told("web1", "web2", "db1", noop=True)
    for host in ("web1", "web2", "db1"):
        told.event(host, noop=True, **changed("/etc/motd", DIFF))
    told.event("db1", noop=True, noop_message="Would have x", **changed("/etc/db", DIFF + "+z\n"))
    for host in ("web1", "web2", "db1"):
        told.end(host)
    text = told.summary()
    assert text.count("-old") == 2
    expect_text(text)


def test_different_diffs_of_one_resource_name_their_hosts() -> None:
    """Where hosts differ in a diff only, they stay one block and each diff says whose it is."""
    told = Told("web1", "web2", "web3", noop=True)
    for host, more in (("web1", ""), ("web2", ""), ("web3", "+more\n")):
        told.event(host, noop=True, **changed("/etc/motd", DIFF + more))
        told.end(host)
    text = told.summary()
    assert "web[1-3] (3 hosts)" in text
    expect_text(text)
    assert "on web3:" in text
    assert "-old" not in Told("x").summary()


def test_hosts_that_differ_in_their_own_name_stand_together() -> None:
    """A host's name in a resource, a content or a diff is no other outcome."""
    told = Told("h1", "h2", "h10", noop=True)
    for number, host in enumerate(("h1", "h2", "h10")):
        change = {"what": "content", "from": None, "to": f"sha256:{number}{'c' * 63}"}
        diff = DIFF.replace("new", f"host {host}")
        told.event(
            host, f"/srv/{host}/own.conf", "changed", noop=True, noop_message="Would have x",
            changes=[{"what": "mode", "from": "0600", "to": "0644"}, {**change, "diff": diff}],
        )  # fmt: skip
        told.end(host)
    text = told.summary()
    assert text.count("would    file#/srv/{host}/own.conf  change") == 1
    assert text.count("+host h1") == 1
    expect_text(text)
    text = told.summary(diffs=False)
    expect_text(text)
    assert "as on" not in text


def test_a_value_in_the_first_line_is_true_of_each_host() -> None:
    """A host's name in a short change is not that of the first host; for another value of its own,
    the row names the host that it is of."""
    told = Told("h1", "h2")
    for number, host in enumerate(("h1", "h2")):
        for name, value in (("say", f"echo {host}"), ("ping", f"ping 192.0.2.{number}")):
            change = {"what": "command", "from": None, "to": value}
            told.event(host, name, "changed", type="exec", changes=[change])
        told.end(host)
    text = told.summary(diffs=False)
    assert "changed  exec#say  command: echo {host}\n" in text
    assert (
        "changed  exec#ping  command: ping 192.0.2.0\n"
        "        (shown for h1; 2 variants differ only in host-specific values; -v shows each)\n"
    ) in text


def rewritten(number: int, diff: str) -> dict[str, Any]:
    """The change of a file whose old and new contents are different on every host."""
    before, after = (f"sha256:{number}{letter * 63}" for letter in "cd")
    change = {"what": "content", "from": before, "to": after, "diff": diff}
    return {"name": "/etc/motd", "status": "changed", "noop": True, "changes": [change]}


def test_a_change_of_files_with_own_names_is_shown_once() -> None:
    """Old and new contents that differ in the host's name have one example; -v shows each."""
    for everything in (False, True):
        told = Told("h1", "h2", noop=True)
        for number, host in enumerate(("h1", "h2")):
            told.event(host, **rewritten(number, f" server {host}\n{DIFF}"))
            told.end(host)
        text = told.summary(everything=everything)
        assert text.count("+new") == (2 if everything else 1)
        assert ("2 variants differ only in host-specific values" in text) is not everything
        assert ("        on h2:\n         server h2\n" in text) is everything


def test_equal_diffs_are_one_variant() -> None:
    """Contents that differ only outside the diff are the same change, also with -v."""
    for everything in (False, True):
        told = Told("h1", "h2", noop=True)
        for number, host in enumerate(("h1", "h2")):
            told.event(host, **rewritten(number, DIFF))
            told.end(host)
        text = told.summary(everything=everything)
        assert text.count("+new") == 1
        assert "variants" not in text
        assert "on h" not in text


def test_hosts_whose_old_contents_differ_unseen_are_told_apart() -> None:
    """Without a diff, or where it is masked, the hashes of the old contents count."""
    for diff in ("", "omitted: too many diffs", DIFF.replace("old", MASKED)):
        told = Told("h1", "h2", noop=True)
        for number, host in enumerate(("h1", "h2")):
            told.event(host, **rewritten(number, diff))
            told.end(host)
        text = told.summary()
        assert "on h1:" in text
        assert "on h2:" in text


def test_an_error_has_one_position() -> None:
    """That of the template that failed, else that of the resource."""
    told = Told("h1")
    at = {"type": "file", "place": "site.yaml:4:11"}
    told.event("h1", "/a", "failed", error=["content: there is no key 'x' (a.j2:2:4)"], **at)
    told.event("h1", "/b", "failed", error=["no space (left)\nmore (a:1:2)"], **at)
    told.end("h1", "failed")
    text = told.summary()
    expect_text(text)


def test_what_does_not_fit_behind_a_resource_stands_below_it() -> None:
    """A long reason is wrapped at the width of the terminal, in from the margin."""
    told = Told("web1", noop=True)
    told.event(
        "web1", "/etc/x", "changed", noop=True, changes=[CREATED],
        prediction="unknown", prediction_reason="a reason of many words " * 5,
    )  # fmt: skip
    told.end("web1")
    lines = told.summary().splitlines()
    at = lines.index("    would    file#/etc/x")
    assert lines[at + 1].startswith("        create, unknown (a reason")
    assert max(map(len, lines)) <= 100


def test_no_diff_is_shown_where_none_is_wanted() -> None:
    """Without diffs a change of content is one word; hashes are shown to who wants everything."""
    told = Told("web1", noop=True)
    told.event("web1", noop=True, **changed("/etc/motd", DIFF))
    told.end("web1")
    text = told.summary(diffs=False)
    assert "-old" not in text
    expect_text(text)
    text = told.summary(diffs=False, everything=True)
    assert "content: aaaaaaaaaaaa → bbbbbbbbbbbb" in text


def test_a_prediction_that_is_not_certain_says_why() -> None:
    """An unknown prediction is shown with its reason and counted."""
    told = Told("web1", noop=True)
    told.event(
        "web1", "/etc/x", "changed", noop=True, changes=[CREATED],
        prediction="unknown", prediction_reason="user www-data is not there yet",
    )  # fmt: skip
    told.end("web1")
    text = told.summary()
    expect_text(text)
    assert "1 unknown" in text


def test_what_would_be_waited_for_is_told() -> None:
    """It changes nothing, and still the push would stand there."""
    told = Told("web1", noop=True)
    told.event(
        "web1", "ready", "stable", type="wait", noop=True, prediction="assumed",
        noop_message="Would have waited for /x to exist", prediction_reason="not yet",
    )  # fmt: skip
    told.end("web1")
    text = told.summary()
    expect_text(text)


def test_hosts_that_cannot_be_reached_for_one_reason_stand_together() -> None:
    """Addresses and names in the message do not part hosts that failed alike."""
    told = Told("web1", "web2")
    for number, host in enumerate(("web1", "web2")):
        message = f"{host}: 192.0.2.{number + 1}:22 refused the connection"
        told.end(host, "unreachable", message=message, hint="start sshd", phase=Phase.CONNECTING)
    text = told.summary()
    assert "web[1-2] (2 hosts)  unreachable" in text
    expect_text(text)
    assert "→ start sshd" in text


def test_a_plan_that_hosts_refuse_for_good_is_not_pushed_again() -> None:
    """How to go on is what they say: with another plan."""
    for kind, goes_on in (("used", False), ("identity", True)):
        told = Told("web1", "web2")
        for host in ("web1", "web2"):
            told.end(host, "refused", kind=f"plan.refused.{kind}", message="create a new plan")
        assert ("→ select these hosts with" in told.summary()) is goes_on


def test_hosts_whose_keys_are_new_stand_together() -> None:
    """Fingerprints and moments part nobody, and the command to run is for all of the block."""
    told = Told("web1", "web2", "db1", "db2")
    for host, letter in (("web1", "a"), ("web2", "B")):
        message = f"the host key of {host} is unknown: ED25519 key SHA256:{letter * 43}"
        trust = {"hint": "compare, then:", "command": "ccm hosts trust -i x.yaml", "only": host}
        told.end(host, "unreachable", message=message, **trust)
    for number, host in enumerate(("db1", "db2")):
        message = f"another push is at work, since 2026-03-14T09:15:0{number}.5{number}Z"
        told.end(host, "failed", message=message)
    text = told.summary()
    assert "web[1-2] (2 hosts)  unreachable" in text
    assert "db[1-2] (2 hosts)  failed" in text
    assert "    → compare, then: ccm hosts trust -i x.yaml -l 'web[1-2]'\n" in text


def test_every_host_shows_its_own_key() -> None:
    """Hosts with unknown keys stand together with the fingerprint of each, a few of very many."""
    names = ("a", *(f"web{number}" for number in range(7)))
    told = Told(*names)
    for host, letter in zip(names, "aBcdefgh", strict=True):
        message = f"the host key of {host} is unknown: ED25519 key SHA256:{letter * 43}"
        told.end(host, "unreachable", message=message)
    lines = told.summary().splitlines()
    assert f"    web0: SHA256:{'B' * 43}" in lines
    assert f"    web3: SHA256:{'e' * 43}" in lines
    assert "    … 3 more keys; -v shows all" in lines
    assert f"    web6: SHA256:{'h' * 43}" in told.summary(everything=True).splitlines()


COMMAND = "ccm hosts trust -i some/folder/hosts.yaml -l web1"


def test_the_command_behind_a_hint_is_not_broken() -> None:
    """On a narrow terminal a hint is wrapped, and the command behind it can be copied whole."""
    told = Told("web1")
    trust = {"hint": "the host's key may be new; look first, then run", "only": "web1"}
    told.end("web1", "unreachable", message="no", command=COMMAND.removesuffix(" -l web1"), **trust)
    lines = told.summary(width=40).splitlines()
    assert [line.strip() for line in lines if COMMAND in line] == [COMMAND]


@pytest.mark.parametrize(
    "hint",
    [
        f"look first, then use '{COMMAND}' or ask the host's owner",
        f"look first, then use `ssh -o 'A b' {COMMAND}` or ask the host's owner",
        f'look first, then use "{COMMAND}" or ask the host\'s owner',
    ],
)
def test_a_quoted_command_is_not_broken(hint: str) -> None:
    """On a narrow terminal a hint is wrapped around its command, which can be copied whole."""
    told = Told("web1", "db1")
    told.end("web1", "unreachable", message="no", hint=hint)
    told.event("db1", "/x", "failed", error=[f"no ({hint})"])
    told._tell(run_events.HostNotice("db1", "warning", hint))
    told.end("db1", "failed")
    lines = told.summary(width=40).splitlines()
    assert sum(COMMAND in line for line in lines) == 3
    assert all(len(line) <= 40 for line in lines if line.startswith("    ") and "ccm" not in line)


def test_a_preview_warns_before_its_changes() -> None:
    """What a preview could not know stands above the changes, once for all hosts; a push warns
    below what it did.
    """
    for noop in (True, False):
        told = Told("web1", "web2", noop=noop)
        for host in ("web1", "web2"):
            told._tell(run_events.HostNotice(host, "warning", "the package lists are old"))
            told.event(host, "/x", "changed")
            told.end(host)
        text = told.summary()
        assert text.count("warning: the package lists are old [") == 1
        assert (text.index("the package lists are old") < text.index("file#/x")) == noop


def test_an_apostrophe_begins_no_command() -> None:
    """Words between the apostrophes of two words are wrapped like any others."""
    told = Told("web1")
    told.end("web1", "failed", message="the user's home and the host's state and the user's shell")
    assert max(map(len, told.summary(width=40).splitlines()[2:4])) <= 40


def test_different_reasons_are_different_blocks() -> None:
    """Exit statuses and words that differ are never merged."""
    told = Told("web1", "web2")
    for host, status in (("web1", 1), ("web2", 2)):
        told.event(host, "/x", "failed", error=[f"exited with status {status}"])
        told.end(host, "failed")
    text = told.summary()
    assert "status 1" in text
    assert "status 2" in text


def test_an_interrupted_host_says_how_far_it_was() -> None:
    """The counts of hosts that were interrupted together are given as a range."""
    told = Told("web1", "web2")
    for host, done in (("web1", 3), ("web2", 5)):
        for number in range(done):
            told.event(host, f"/{number}")
        given = {"planned": 9, "phase": Phase.RUNNING, "message": "interrupted", "stderr": "x"}
        told.end(host, "interrupted", **given)
    text = told.summary()
    assert "web[1-2] (2 hosts)  interrupted (3-5 unchanged)" in text
    expect_text(text)
    assert "[1/2] web1: interrupted while running (3 unchanged)" in told.out.getvalue()


def test_what_fail_on_error_left_out_is_told() -> None:
    """A host whose run fail_on_error ended says which resources were not tried."""
    told = Told("web1", "web2")
    for host, untried in (("web1", 3), ("web2", 0)):
        told.plan(host, names=[f"/{untried}", *(f"/etc/{n}.conf" for n in range(untried))])
        told.event(host, f"/{untried}", "failed", error=["no"])
        told.end(host, "failed", untried=untried)
    assert told.summary().count("fail_on_error") == 1
    expect_text(told.summary())


def test_what_did_not_run_is_named() -> None:
    """After an interrupt or a lost host it is named once for the hosts that share it."""
    told = Told("web1", "web2", "web3", "web4")
    names = ["/a", "/b", "/b", *(f"/{word}/{word}" for word in ("x", "y", "z")), "/{}/x"]
    for host, done in (("web1", 4), ("web2", 2), ("web3", 7)):
        told.plan(host, names=[name.format(host) for name in names])
        for name in names[:done]:
            told.event(host, name.format(host))
        given = {"planned": 7, "phase": Phase.RUNNING, "message": "interrupted"}
        told.end(host, "interrupted" if done < 7 else "ok", **(given if done < 7 else {}))
    told.end("web4", "interrupted", phase=Phase.WAITING, message="interrupted")
    text = told.summary()
    expect_text(text)
    assert "web4" not in told.out.getvalue()


def test_a_run_that_was_ended_says_how_it_goes_on() -> None:
    """With all hosts that are left, whether they were cut short or had no turn; a rollout says so
    itself."""
    told = Told("web1", "web2", "web3")
    again = ("ccm", "push", "-i", "hosts.yaml", "site.yaml")
    started = run_events.RunStarted("run-1", 100.0, ("web1", "web2", "web3"), False, again=again)
    told.collected.handle(started)
    told.end("web1", "interrupted", phase=Phase.RUNNING, message="interrupted")
    for host in ("web2", "web3"):
        told.end(host, "interrupted", phase=Phase.WAITING, message="interrupted")
    command = "ccm push -l run:run-1:undone -i hosts.yaml site.yaml"
    assert f"not started\n    → resume with: {command}\n" in told.summary()
    told.collected.handle(run_events.RolloutPlanned((("web1",), ("web2", "web3")), 0, {}))
    assert command not in told.summary()


def test_what_is_due_is_named() -> None:
    """What had no turn and subscribes to something that changed waits for the next push."""
    for noop in (False, True):
        told = Told("web1", "web2", noop=noop)
        for host, status in (("web1", "changed"), ("web2", "stable")):
            told.plan(host, names=["/conf", "/b", "/c"], b="conf", c="b")
            told.event(host, "/conf", status, noop=noop)
            told.end(host, "interrupted", planned=3, phase=Phase.RUNNING, message="interrupted")
        line = "    refreshed by the next push: file#/b\n"
        assert (line in told.summary()) is not noop
        assert told.summary().count("refreshed by") == (0 if noop else 1)


def test_due_since_an_earlier_run_is_told() -> None:
    """The run that left a refresh undone is named where it is not the one that is shown."""
    earlier, this = "20260920T133640Z-bbbbbb", "20260921T133640Z-aaaaaa"
    for since, shown in ((earlier, True), (this, False)):
        told = Told("web1")
        told.event("web1", "/x", "failed", error=["no"], run_id=this, due_since=since)
        told.end("web1")
        assert (f"refresh pending since run {since}" in told.summary()) is shown


def test_what_did_not_run_is_bounded() -> None:
    """A long plan is cut short, and so are many hosts that stopped at different places; -v shows
    all."""
    hosts = [f"web{n}" for n in range(1, 9)]
    told = Told(*hosts)
    names = [f"/{chr(97 + n % 26)}/{chr(97 + n // 26)}/name" for n in range(300)]
    for done, host in enumerate(hosts):
        told.plan(host, names=names)
        for name in names[:done]:
            told.event(host, name)
        lost = {"planned": 300, "phase": Phase.RUNNING, "message": "the connection ended"}
        told.end(host, "unreachable", **lost)
    lines = [line for line in told.summary().splitlines() if "unknown" in line or "more" in line]
    assert len(lines) < 12
    assert lines[1].endswith("file#/r/a/name, … 282 more")
    expect_text(lines)
    everything = told.summary(everything=True)
    assert all(name in everything for name in names)


def test_what_a_command_printed_is_shown_where_all_is() -> None:
    """With -v the output of a command that succeeded stands below its resource."""
    for verbose in (False, True):
        told = Told("web1", verbose=verbose)
        told.event("web1", "/x", "changed", exit_code=0, output="one\ntwo\n")
        told.end("web1")
        shown = told.summary(everything=verbose)
        assert ("│ one" in shown and "│ two" in shown) is verbose, shown


def test_what_commands_printed_is_told_once_for_all_who_printed_it() -> None:
    """A report has the last lines of each output, hosts apart where those differ in more than a
    name or a number."""
    told = Told("web1", "web2", "web3", outputs=True)
    for host in ("web1", "web2"):
        lines = "".join(f"line {number}\n" for number in range(30))
        told.event(host, "x", "changed", type="exec", exit_code=0, output=f"{lines}{host} done\n")
    told.event("web3", "x", "changed", type="exec", exit_code=0, output="other\n")
    told.event("web3", "y", "failed", type="exec", error=["exit code 1", "tail"], output="tail\n")
    told.event("web1", "y", "changed", type="exec")
    told.event("web2", "y", "changed", type="exec")
    for host in ("web1", "web2", "web3"):
        told.end(host)
    text = told.summary()
    assert text.count("│ web1 done") == 1
    assert "│ web2 done" not in text
    assert "│ … 19 earlier lines" in text
    assert "│ other" in text
    assert text.count("│ tail") == 1


@pytest.mark.parametrize(("lines", "told"), [(13, "1 earlier line"), (14, "2 earlier lines")])
def test_what_is_left_out_of_an_output_is_counted(lines: int, told: str) -> None:
    """One line that is not shown is a line, two are lines."""
    text = "".join(f"line {number}\n" for number in range(lines))
    assert f"│ … {told}" in list(printed_lines(text, everything=False))


def test_quiet_shows_failures_only() -> None:
    """With -q a run in which nothing failed writes nothing."""
    told = Told("web1")
    told.event("web1", **changed("/x"))
    told.end("web1")
    assert told.summary(quiet=True) == ""


def test_plain_lines_count_hosts() -> None:
    """Without a terminal each host that ends is one line, failures are told as they happen."""
    told = Told("web1", "web2")
    told.event("web1", "/x", "failed", error=["no\nmore"])
    told.end("web1", "failed", seconds=2.0)
    told.end("web2", seconds=75.0)
    assert told.out.getvalue().splitlines() == [
        "web1: failed file#/x: no more",
        "[1/2] web1: 1 failed (2.00 s)",
        "[2/2] web2: nothing to do (1 min 15 s)",
    ]


def test_the_mistakes_of_a_plan_are_told_apart_in_a_plain_line() -> None:
    """Reasons that stand on lines of their own are joined so that one sees where each begins."""
    told = Told("web1")
    told.end("web1", "failed", message="site.yaml:4:1: no\nsite.yaml:5:1: neither", seconds=2.0)
    expect_text(told.out.getvalue())


def test_a_change_that_is_masked_says_so_once() -> None:
    """Of what is sensitive no value was given before and after to be told."""
    told = Told("web1")
    hidden = {"what": "command", "from": "[masked]", "to": "[masked]"}
    told.event("web1", "tell", "changed", changed=True, changes=[hidden])
    told.end("web1")
    text = told.summary()
    assert "command: [masked]\n" in text
    assert "→" not in text


def test_a_fleet_with_one_outcome_is_held_once() -> None:
    """The entries of a thousand hosts that changed the same are one object."""
    hosts = [f"web{number}" for number in range(1000)]
    told = Told(*hosts)
    for host in hosts:
        told.event(host, **changed("/etc/motd", DIFF))
    assert len({id(entry) for entries in told.collected.entries.values() for entry in entries}) == 1


def test_a_host_that_says_too_much_is_cut_short() -> None:
    """Reasons without end fill neither screen nor memory; names and headlines are one line."""
    told = Told("web1")
    for number in range(100):
        texts = [f"{number} " + "why " * 100_000, "more " * 50_000]
        told.event("web1", f"/etc/{number}\nx", "failed", error=texts)
    told.end("web1", "failed")
    kept = sum(len(text) for entry in told.collected.entries["web1"] for text in entry.errors)
    assert kept < 34 << 20
    text = told.summary()
    assert len(text) < 200_000
    assert "failed   file#/etc/0 x\n" in text
    assert "more: -v shows all" in text


def test_what_a_child_in_noop_would_do_is_not_told_as_changed() -> None:
    """In a push, too, resources that only would change are counted by themselves."""
    told = Told("web1", "web2")
    pending = {"noop": True, "noop_message": "Would have executed", **changed("true")}
    for host in ("web1", "web2"):
        told.event(host, **pending)
    told.event("web1", **changed("/etc/motd"))
    told.end("web1")
    told.end("web2")
    text = told.summary()
    expect_text(text)
    expect_text(told.out.getvalue())


def test_a_new_file_of_a_child_in_noop_is_only_created() -> None:
    """The summary of a push shows no diffs, and "create" says that there is new content."""
    told = Told("web1")
    changes = [
        {"what": "ensure", "from": "absent", "to": "present"},
        {"what": "content", "from": None, "to": "sha256:1b2c", "diff": "+hello\n"},
    ]
    told.event("web1", "/etc/motd", "changed", noop=True, changes=changes)
    told.end("web1")
    assert "would    file#/etc/motd  create\n" in told.summary()


def test_a_check_that_failed_is_told_once_and_others_keep_to_the_width() -> None:
    """The reason of the failure holds the check's output; a warning stands below, wrapped."""
    told = Told("web1")
    checks = [
        {"name": "goss", "status": "CRITICAL", "tries": 1, "output": "1 of 5 failed"},
        {"name": "disk", "status": "WARNING", "tries": 1, "output": "little space left " * 8},
    ]
    error = "health check 'goss': CRITICAL after 1 try: 1 of 5 failed"
    told.event("web1", "/etc/motd", "failed", error=[error], health_check=checks)
    told.end("web1", "failed")
    text = told.summary(width=80)
    assert text.count("1 of 5 failed") == 1
    assert "        health check 'disk': WARNING: little space left" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_host_whose_time_was_up_timed_out() -> None:
    """--timeout is no trouble with the network, and is not called so."""
    told = Told("web1")
    message = "timed out; the resources in progress were interrupted"
    told.end("web1", "unreachable", kind="host.timeout", message=message)
    assert "web1  timed out" in told.summary()
    expect_text(told.out.getvalue())


def test_an_apply_is_in_no_total() -> None:
    """An apply counts in no total that people read and has a line only where it failed or was
    skipped; the machine's tally has it."""
    told = Told("web1", "web2", noop=True)
    for host in ("web1", "web2"):
        told.event(host, **{**changed("/etc/motd"), "manifest": "base.yaml"})
        told.event(host, "/etc/issue", manifest="base.yaml")
        told.event(host, "base.yaml", "changed", type="apply")
    told.event("web2", "web.yaml", "failed", type="apply", error=["not allowed"])
    told.end("web1")
    told.end("web2", "failed")
    text = told.summary()
    expect_text(text)
    assert "apply#base.yaml" not in text
    assert "apply#web.yaml" in text
    tally = told.collected.results["web2"].tally
    assert (tally.total, tally.failed, tally.record()["applies"]["total"]) == (4, 1, 2)
