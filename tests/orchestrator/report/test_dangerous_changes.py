"""What is dangerous about a preview is listed once for the fleet."""

from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.report.dangerous_changes import MAX_LINES, Dangers
from orchestrator.report.terminal.style import Style
from tests.orchestrator.plan_files.test_dangerous_changes import GONE, effect, told
from tests.texts import expect_text


def dangers(events: dict[str, list[dict[str, Any]]], *others: str) -> Dangers:
    """Those of the events of each host."""
    found = Dangers()
    found.handle(run_events.RunStarted("R", 1.0, (*events, *others), True))
    for host, own in events.items():
        for event in own:
            found.handle(run_events.ResourceEvent(host, event, ""))
    return found


def lines(found: Dangers, width: int = 80, **options: Any) -> list[str]:
    return list(found.lines(Style(width=width), **options))


def test_hosts_with_the_same_danger_stand_together() -> None:
    """By kind, then by hosts; a name that holds the host's own is the same."""
    events = {
        host: [
            told("file", f"/etc/{host}.conf", GONE),
            told("reboot", "k", ("ensure", None, "rebooted"), prediction="assumed"),
        ]
        for host in ("web1", "web2", "web3")
    }
    events["web2"].append(told("file", "/x", ("mode", "0600", "0644")))
    assert lines(dangers(events, "web4")) == [
        "Dangerous: 3 removals, 3 reboots, 1 widened mode",
        "    remove          file#/etc/{host}.conf  on web[1-3] (3 hosts)",
        "    reboot          reboot#k, assumed  on web[1-3] (3 hosts)",
        "    widen mode      file#/x, 0600 → 0644  on web2",
    ]
    expect_text("\n".join(lines(dangers(events))))


def test_other_removals_are_named_so() -> None:
    """Those of packages and accounts are counted by themselves."""
    effects = [{"kind": "user", "name": "bob", "state": "absent"}]
    found = dangers(
        {"web1": [told("file", "/x", GONE), told("user", "bob", GONE, effects=effects)]}
    )
    assert found.total == "1 account removal, 1 other removal"


def test_a_group_has_no_name_of_one_host() -> None:
    """Where texts differ, the host's name has a placeholder, in the document as well; else not."""
    one = told("file", "/srv/web1", GONE)
    other = told("file", "/srv/web2", GONE)
    (both,) = dangers({"web1": [one], "web2": [other]}).groups()
    assert both.words == "file#/srv/{host}"
    assert both.record()["what"] == "file#/srv/{host}"
    (alone,) = dangers({"web1": [one, one], "web2": []}).groups()
    assert alone.words == "file#/srv/web1"
    (third,) = dangers({"web1": [one], "web2": [other], "web3": []}).groups()
    assert third.record()["hosts"] == ["web1", "web2"]


def test_nothing_dangerous() -> None:
    """There is no list then, and commands alone make none; what is unknown does."""
    harmless = told("file", "/x", ("content", "a", "b"))
    command = told("exec", "x", ("command", None, "x"))
    assert lines(dangers({"web1": [harmless, command]})) == []
    unknown = told("file", "/x", prediction="unknown")
    assert lines(dangers({"web1": [unknown, command]}), 100) == [
        "Dangerous: none known",
        "    unknown effects 1 resource on 1 host cannot be predicted in full; 1 command would run",
    ]
    effect = told("package", "x", effects=[{"kind": "unknown", "name": "x", "state": ""}])
    assert lines(dangers({"web1": [unknown, effect]}), 120)[1:] == [
        "    unknown effects 2 resources on 1 host cannot be predicted in full "
        "(for 1, only the side effects are unknown)",
    ]


@pytest.mark.parametrize("width", [80, 200])
def test_it_is_bounded(width: int) -> None:
    """Thousands of dangers need few lines, of each kind some, and none is wider than the screen."""
    many = [told("file", f"/etc/{'deep/' * 30}{n}", GONE) for n in range(6000)]
    many += [
        {
            **told("package", f"p{n}", ("ensure", "1", "2")),
            "effects": [effect("unit", f"u{n}.service", "restarted")],
        }
        for n in range(50)
    ]
    found = dangers({"web1": many[-100:] + many[:-100]})
    shown = lines(found, width)
    assert shown[0] == "Dangerous: 6,000 removals, 50 restarts"
    assert len(shown) < 4 * MAX_LINES
    assert max(map(len, shown)) <= width
    assert sum("restart  " in line for line in shown) == MAX_LINES // 2
    assert f"… {6050 - MAX_LINES:,} more; -v shows all" in shown[-1]


def test_names_of_strangers_are_harmless() -> None:
    """Escape sequences, newlines and characters without width act on no terminal."""
    name = "/x\x1b[2J\ny\u200b\u202e"
    found = dangers({"web1": [told("file", name, GONE)]})
    expect_text(lines(found)[1:])


def test_a_push_has_no_list() -> None:
    """What is done is no preview."""
    assert lines(dangers({"web1": [told("file", "/x", GONE, noop=False)]})) == []
