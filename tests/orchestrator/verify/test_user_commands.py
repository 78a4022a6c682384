"""What guards and health checks say, as the runtime has run them."""

from typing import Any

from orchestrator.verify.checks.exec import expectations
from orchestrator.verify.derivation import derive
from orchestrator.verify.expectation import judge
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import answers, with_timeout
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.verify.fakes import item
from tests.orchestrator.verify.test_derivation import Plan, Planned

CHECK = {"command": "/usr/bin/probe", "name": "answers"}


def told(check: Any, **event: Any) -> list[str]:
    """What a verify writes of one check after an event."""
    found = answers(
        check.expectations, {"final_ensure": "", "error": [], **event}, Mask(["s3cret"])
    )
    mine = [one for one in check.expectations if one.commands]
    return [str(line) for line in judge(mine, found, Mask(["s3cret"]), check.item.sensitive)]


def checked(*resources: Any) -> Any:
    """The checks of a plan, whose types have nothing else to look at but those of exec."""
    plan: Any = Plan(*(Planned(one) for one in resources))
    kind = {"exec": expectations}
    return derive(plan, lambda path: b"", kind.get).checks


def test_guards_that_let_a_command_run_again() -> None:
    """Guards that keep the command back pass; those that would not, or cannot run, are told."""
    guarded = {"command": "make", "unless": "test -f /made", "onlyif": "true"}
    (check,) = checked(item("exec", "make", properties=guarded))
    assert told(check, final_ensure="present") == []
    assert told(check, final_ensure="absent") == [
        "conditions: expected that 'onlyif' or 'unless' prevents the command, "
        "found that it would run"
    ]
    assert told(check, error=["unless: no such program s3cret"])[0].endswith(
        "found no result (unless: no such program [masked])"
    )


def test_what_only_a_refresh_runs_is_not_asked() -> None:
    """Neither guards nor the path of such a command say how the host should be."""
    for given in ({"unless": "x"}, {"creates": "/x"}):
        assert expectations(Subject("x", {**given, "refresh_only": True})) == []


def test_health_checks_of_any_type() -> None:
    """Each check is told by its name with what it printed; a warning passes; silence does not."""
    (check,) = checked(item("service", "nginx", health_checks=(CHECK, {"command": "/bin/other"})))
    good = {"name": "answers", "status": "WARNING", "tries": 1, "output": "slow"}
    bad = {"name": "other", "status": "CRITICAL", "tries": 3, "output": "s3cret is gone"}
    assert told(check, health_check=[good, {**bad, "status": "OK"}]) == []
    assert told(check, health_check=[good, bad]) == [
        "health check 'other': expected OK, found CRITICAL: [masked] is gone"
    ]
    assert told(check, health_check=[good]) == [
        "health check 'other': expected OK, found no result (it was not run)"
    ]


def test_what_the_runtime_gets() -> None:
    """No requirement goes along, and no property but an exec's; each command has a bound."""
    service = item("service", "nginx", health_checks=(CHECK,), require=("file#/x",),
                   properties={"ensure": "running"})  # fmt: skip
    guarded = item("exec", "make", properties={"unless": "x"}, subscribe=("file#/x",))
    own = item("exec", "m", properties={"unless": "x", "timeout": "5s"})
    asked = [with_timeout(check.commands, 300) for check in checked(service, guarded, own)]
    assert [one.monitor_only for one in asked] == [True, False, False]
    assert [one.require + one.subscribe for one in asked] == [(), (), ()]
    assert [one.properties.get("timeout") for one in asked] == [None, "300s", "5s"]
    assert asked[0].properties == {}
    assert asked[0].health_checks == ({**CHECK, "timeout": "300s"},)


def test_checks_of_what_is_only_monitored() -> None:
    """A resource that is monitored only has its health checks looked at, and nothing else."""
    watched = item("service", "a", monitor_only=True, health_checks=(CHECK,))
    (check,) = checked(watched, item("service", "b", monitor_only=True))
    assert [one.what for one in check.expectations] == ["health check 'answers'"]
