"""Who started a run, and of which commit."""

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.fleet.run_origin import Origin, origin_of
from remote_runtime.version import VERSION


def git(directory: Path, *words: str) -> str:
    """Run git as a user that no configuration names."""
    who = {
        f"GIT_{role}_{part}": "t@t"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(directory), *words],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **who},
    )
    return done.stdout.strip()


def test_a_commit_is_named_and_whether_it_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changed and new files make it unclean, also in another directory of the repository."""
    monkeypatch.setenv("CCM_ACTOR", "deploy\x1b[0m bot")
    site = tmp_path / "infra" / "site.yaml"
    site.parent.mkdir()
    site.write_text("ccm: {}\n")
    git(tmp_path, "init", "-q")
    assert origin_of(str(site))[4:] == ("", None)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    head = git(tmp_path, "rev-parse", "HEAD")
    origin = origin_of(str(site))
    assert (origin.commit, origin.clean, origin.ccm) == (head, True, VERSION)
    assert origin.machine == os.uname().nodename
    assert "\x1b" not in origin.actor
    (tmp_path / "new.conf").touch()
    assert origin_of(str(site)).clean is False
    assert origin_of("").commit == ""


def test_what_is_not_known_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a repository, or without Git, no commit is named."""
    monkeypatch.delenv("CCM_ACTOR", raising=False)
    assert origin_of(str(tmp_path / "site.yaml")).clean is None
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", "/nowhere")
    assert origin_of(str(tmp_path / "site.yaml"))[4:] == ("", None)
    assert Origin().words == ""


def test_words_and_records() -> None:
    """People read the actor before the local user, and eight digits of the commit."""
    origin = Origin("ci", "runner", "alice", "1.2", "8c1f0de2" + "0" * 32, clean=False)
    assert origin.words == (
        "by alice (ci@runner), with ccm 1.2, commit 8c1f0de2 with uncommitted changes"
    )
    assert origin.version == "8c1f0de2+"
    assert Origin.from_record(origin.record()) == origin
    assert origin.public_record()["commit"].endswith("00+")
    with pytest.raises(ValueError, match="expected"):
        Origin.from_record({**origin.record(), "clean": "yes"})
