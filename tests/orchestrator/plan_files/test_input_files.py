"""The files that a plan was created of are the same when it is pushed."""

import os
from pathlib import Path
from typing import Any

import pytest

from orchestrator.plan_files.input_files import check_unchanged, check_whole, digests_of, here
from remote_runtime.errors import InputError

SALT = "ab" * 32


@pytest.fixture(autouse=True)
def _in_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_paths_are_those_of_the_checkout(tmp_path: Path) -> None:
    """What is below the working directory is named from there, so another checkout will do."""
    assert here("a/site.yaml") == here(str(tmp_path / "a" / "site.yaml")) == "a/site.yaml"
    assert here("../x") == str(tmp_path.parent / "x")


def test_every_file_that_differs_is_told(tmp_path: Path) -> None:
    """Changed and missing files are told at once; untouched ones are not."""
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name)
    known = digests_of(["a", tmp_path / "b", "c", "nowhere"], (), SALT)
    assert list(known) == ["a", "b", "c"]
    check_unchanged(known, SALT)
    (tmp_path / "b").write_text("other")
    os.unlink("c")
    with pytest.raises(InputError) as caught:
        check_unchanged(known, SALT)
    told = [str(problem) for problem in caught.value.problems]
    assert [text.split()[0] for text in told] == ["b", "c"]


def test_a_file_that_may_hold_a_secret_is_slow_to_guess(tmp_path: Path) -> None:
    """A document always, another file where the secret stands in it."""
    (tmp_path / "data.yaml").write_text('password: "s3\\x63ret"')
    (tmp_path / "app.conf").write_text("password=s3cret")
    (tmp_path / "logo").write_text("none")
    known = digests_of(["data.yaml", "app.conf", "logo"], {"s3cret"}, SALT)
    kinds = {name: digest.partition(":")[0] for name, digest in known.items()}
    assert kinds == {"data.yaml": "scrypt", "app.conf": "scrypt", "logo": "sha256"}
    check_unchanged(known, SALT)
    assert known["app.conf"] != digests_of(["app.conf"], {"s3cret"}, "cd" * 32)["app.conf"]


@pytest.mark.parametrize("kind", ["manifest", "inventory", "hiera", "facts"])
def test_a_plan_has_a_digest_of_all_that_it_names(kind: str) -> None:
    """A manifest, inventory, data or facts without one are told; a list of hosts is no file."""
    record: dict[str, Any] = {
        "manifest": "site.yaml",
        "inventory": ["hosts.yaml", "web1,web2"],
        "hiera": ["data.yaml"],
        "facts": ["facts.yaml"],
    }
    names = ["site.yaml", "hosts.yaml", "data.yaml", "facts.yaml"]
    check_whole("x.plan", {**record, "files": dict.fromkeys(names, "sha256:")})
    record[kind] = "other" if kind == "manifest" else ["./hosts.yaml", "site.yaml", "other"]
    with pytest.raises(InputError, match=r"x\.plan names (other|\./hosts\.yaml)") as caught:
        check_whole("x.plan", {**record, "files": dict.fromkeys(names, "sha256:")})
    assert len(caught.value.problems) == (1 if kind == "manifest" else 2)


def test_a_program_with_a_comma_in_its_name(tmp_path: Path) -> None:
    """It is a file, not a list of hosts."""
    (tmp_path / "a,b").touch()
    record = {"manifest": "m", "inventory": ["a,b"], "hiera": [], "facts": [], "files": {"m": ""}}
    with pytest.raises(InputError, match="names a,b"):
        check_whole("x.plan", record)
