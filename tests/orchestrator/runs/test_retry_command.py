"""The command that does again what a push did."""

import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.cli.run_request import read_request
from orchestrator.planning.plan_options import assignments
from orchestrator.runs.push_job import PushJob
from orchestrator.runs.request import RunRequest
from orchestrator.runs.retry_command import retry_failed_words, retry_words
from remote_runtime.errors import UsageError
from remote_runtime.options import RunOptions
from tests.texts import expect_text


def again(*words: str, **more: Any) -> list[str]:
    return list(retry_words(*asked(*words, **more)))


def for_failed(*words: str, **more: Any) -> list[str]:
    return list(retry_failed_words(*asked(*words, **more)))


def asked(*words: str, **more: Any) -> tuple[PushJob, RunRequest]:
    args = build_parser("push", load_command("push")).parse(list(words))
    options = read_request(args, "push")
    unread: Any = None
    pushed = PushJob("push", args.manifest, unread, unread)
    options = options._replace(run=more.pop("run", options.run))
    pushed = pushed._replace(**more)
    return pushed, options


def test_it_is_the_same_push_of_those_that_are_left() -> None:
    """What was given is given again, but for the hosts and for values that may be secret."""
    words = ["-i", "my hosts.yaml", "-l", "web", "--waves", "1,10%", "--per", "rack=1", "site.yaml"]
    more = ["--data", "key=s3cret", "--fact", "role=web", "--hiera", "a.yaml", "--forks", "5"]
    told = again(*words, *more)
    assert told[:4] == ["ccm", "push", "-i", "my hosts.yaml"]
    assert "-l" not in told
    for flag, value in (
        ("--waves", "1,10%"),
        ("--per", "rack=1"),
        ("--hiera", "a.yaml"),
        ("--data", "key=..."),
        ("--fact", "role=..."),
        ("--forks", "5"),
    ):
        assert told[told.index(flag) + 1] == value
    assert told[-1] == "site.yaml"
    assert "s3cret" not in " ".join(told)


@pytest.mark.parametrize(
    ("sources", "manifest", "told"),
    [
        (["hosts.yaml"], "roles/site.yaml", "roles/site.yaml"),
        (["h1,h2"], "site.yaml", "site.yaml"),
        (["/srv/hosts.yaml"], "site.yaml", "{here}/site.yaml"),
        (["hosts.yaml", "/srv/more.yaml"], "site.yaml", "{here}/site.yaml"),
        (["hosts.yaml"], "../site.yaml", "{above}/site.yaml"),
    ],
)
def test_the_manifest_is_named_as_the_inventory_is(
    sources: list[str], manifest: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths below the current directory are shown relative to it, unless one is absolute."""
    monkeypatch.chdir(tmp_path)
    given = [word for source in sources for word in ("-i", source)]
    words = again(*given, manifest, what=os.path.abspath(manifest))
    assert words[-1] == told.format(here=tmp_path, above=tmp_path.parent)


@pytest.mark.parametrize("flag", ["--data", "--fact"])
def test_a_placeholder_is_refused_with_what_to_write(flag: str) -> None:
    """A proposed command that is pasted as it is says that the value must be written there."""
    _, placeholder = again("-i", "h,", flag, "a.key=s3cret", "site.yaml")[4:6]
    with pytest.raises(UsageError) as refused:
        assignments(flag, [placeholder])
    assert f"{flag} a.key=... is a placeholder" in str(refused.value)
    expect_text(refused.value)
    assert assignments(flag, ["a.key=s3cret"]) == {"a": {"key": "s3cret"}}


def test_it_is_the_same_part_of_the_manifest() -> None:
    """What was left out is left out again, a tag with a minus included."""
    told = again("-i", "h,", "--only", "file#/a b", "--tags=-slow,web", "--skip=exec", "site.yaml")
    at = told.index("--only=file#/a b")
    assert told[at + 1 : at + 3] == ["--tags=-slow,web", "--skip=exec"]


def test_whose_rights_it_takes_is_said_again() -> None:
    """Hosts that are left are not pushed to as another user."""
    assert "--become" in again("-i", "h,", "site.yaml", "--become")
    assert "--become=app" in again("-i", "h,", "--become=app", "site.yaml")


def test_of_a_plan_it_is_the_same_plan() -> None:
    """What the plan has settled is not given again: it would be refused."""
    words = [
        "-i",
        "hosts.yaml",
        "--hiera",
        "a.yaml",
        "--waves",
        "1",
        "--data",
        "key=x",
        "site.yaml",
    ]
    told = again(*words, binder=object(), words=("--signers=who", "change.plan"))
    assert told[-2:] == ["--signers=who", "change.plan"]
    assert "--hiera" not in told
    assert "site.yaml" not in told
    assert told[told.index("--waves") :][:2] == ["--waves", "1"]
    assert "key=..." in told


def test_hosts_that_failed_take_a_new_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host carries out a plan once: the command makes another plan of the same, in its place."""
    monkeypatch.chdir(tmp_path)
    words = ["-i", "hosts.yaml", "--hiera", "a.yaml", "--tags=web", "--waves", "1", "--verify"]
    words += ["--data", "key=s3cret", "--timeout=90", "--forks", "5", "site.yaml"]
    plan = ("--stage=a", "--signers=who", "--approvals=2", "change.plan")
    told = for_failed(*words, binder=object(), words=plan, what=str(tmp_path / "site.yaml"))
    assert told == [
        "ccm", "plan", "-i", "hosts.yaml", "--timeout=90", "--hiera", "a.yaml", "--tags=web",
        "--data", "key=...", "--forks", "5", "--stage=a", "-o", "change.plan", "site.yaml",
    ]  # fmt: skip
    build_parser("plan", load_command("plan")).parse(told[2:])


def test_without_a_plan_hosts_that_failed_are_pushed_to_again() -> None:
    """So are those of a push that made its plan itself (--expect)."""
    words = ["-i", "h,", "--waves", "1", "site.yaml"]
    assert for_failed(*words) == for_failed(*words, binder=object()) == again(*words)


@pytest.mark.parametrize(
    "flag", ["--noop", "--monitor-only", "--no-diff", "--no-package-probe", "--refresh-lists",
             "--timeout=90",
             "--stall-timeout=0", "--verify", "--ask-become-pass", "--connect-timeout=2.5"]
)  # fmt: skip
def test_it_does_no_more_and_no_less(flag: str) -> None:
    """A preview stays a preview, and what bounds a run bounds it again."""
    assert flag in again("-i", "h,", flag, "site.yaml")
    assert again("-i", "h,", "site.yaml") == ["ccm", "push", "-i", "h,", "site.yaml"]


def test_a_command_says_what_it_chooses_itself() -> None:
    """Drift is a preview without having been asked for one, and a command has its own words."""
    drift = RunOptions(noop=True, drift=True, package_probe=False)
    assert again("-i", "h,", "site.yaml", command="drift", run=drift)[2:-1] == ["-i", "h,"]
    adhoc = RunOptions(adhoc=True, diff=False)
    told = again("-i", "h,", "x", command="run", words=("--", "true"), run=adhoc)
    assert told == ["ccm", "run", "-i", "h,", "--", "true"]


def test_a_resource_of_flags_is_not_said_again() -> None:
    """Its properties may be secret."""
    assert again("-i", "h,", "/etc/motd", command="ensure") == []


def test_without_an_inventory_there_are_no_hosts_that_are_left() -> None:
    """One machine has its turn, or none."""
    assert again("site.yaml") == []
