"""A push makes each host's plan anew and holds it to the one that was kept."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.plan_files.binding import BoundPlanner
from orchestrator.plan_files.plan_file import PlanFile
from remote_runtime.errors import PlanError
from tests.orchestrator.plan_files.made import NOW, SITE, FakeHost, gathered, keep, planner

HOST = FakeHost()


def hold(directory: Path, kept: PlanFile, site: str = SITE, now: int = NOW, **options: Any) -> Any:
    return BoundPlanner(planner(directory, site, **options), kept, clock=lambda: now)


def refusal(held: Any, host: Any = HOST, **answers: Any) -> tuple[str, str]:
    """Kind and message of why a host gets no plan."""
    with pytest.raises(PlanError) as caught:
        held.plan(host, gathered(**{"host_id": "id of web1", **answers}))
    return caught.value.kind, caught.value.message


def test_the_host_is_told_what_was_observed(tmp_path: Path) -> None:
    """The frame has the serial, the digests of the preview and which predictions were certain."""
    kept = keep(tmp_path, **{"/etc/app": {"prediction": "unknown"}})
    plan = hold(tmp_path, kept).plan(FakeHost(), gathered("id of web1"))
    assert plan.binding["serial"] == kept.record["serial"]
    assert plan.binding["observed"] == ["0f" * 16] * 3
    assert plan.binding["certain"] == [0, 2]
    assert (plan.binding["created"], plan.binding["expires"]) == (NOW, kept.record["expires"])
    assert plan.rounds == 2


@pytest.mark.parametrize(
    ("host", "answers", "words"),
    [
        (FakeHost(), {"host_id": "a clone"}, "not the machine"),
        (FakeHost(), {"key": "SHA256:other"}, "host key has changed"),
        (FakeHost(address="192.0.2.9"), {}, "address"),
        (FakeHost(port=2222), {}, "port"),
        (FakeHost(connection="local"), {}, "connection method has changed"),
        (FakeHost(), {"user": "alice"}, "a different user"),
    ],
)
def test_another_host_is_refused(tmp_path: Path, host: Any, answers: Any, words: str) -> None:
    """A plan goes to the machine that it was made for, at its address, as the same user."""
    kind, message = refusal(hold(tmp_path, keep(tmp_path)), host, **answers)
    assert kind == "plan.refused.identity"
    assert words in message


@pytest.mark.parametrize(
    ("site", "told"),
    [
        (SITE.replace("Hi", "Hello"), "file#/etc/motd would be managed differently"),
        (SITE.replace("hunter2secret", "hunter3secret"), "file#/etc/app has a different secret"),
        (SITE.replace("quiet-value", "quieter"), "file#/etc/own has a different secret"),
        (SITE.replace(", sensitive: true", ""), "file#/etc/own"),
        (SITE.replace("/etc/own", "/etc/owned"), "the resources or their order have changed"),
        (SITE.replace("ccm:\n", "ccm:\n  fail_on_error: true\n"), "fail_on_error"),
    ],
)
def test_what_is_desired_must_be_the_same(tmp_path: Path, site: str, told: str) -> None:
    """Other contents, other secrets, other resources: that host is refused, and why is said."""
    kept = keep(tmp_path)
    kind, message = refusal(hold(tmp_path, kept, site))
    assert kind == "plan.refused.differs"
    assert told in message
    assert "hunter3secret" not in message


def test_a_plan_may_expire_while_it_is_pushed(tmp_path: Path) -> None:
    """A host whose turn comes too late is refused."""
    kept = keep(tmp_path)
    kind, _ = refusal(hold(tmp_path, kept, now=kept.record["expires"]))
    assert kind == "plan.refused.expired"
