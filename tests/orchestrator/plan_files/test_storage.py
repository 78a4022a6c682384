"""Files of plans: whole, or refused with the reason."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas
from orchestrator.plan_files.storage import (
    manifest_of,
    read_plan,
    read_text,
    require_writable,
    text_of,
    write_plan,
)
from remote_runtime.errors import InputError, UsageError
from schemas.fast_validation import fits
from tests.orchestrator.plan_files.made import keep
from tests.texts import expect_text


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The file of a plan."""
    path = tmp_path / "change.plan"
    write_plan(keep(tmp_path), str(path))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_plan(str(path))
    return str(caught.value)


def rewritten(path: Path, **changes: Any) -> dict[str, Any]:
    """Change members of a plan, and its digest with them."""
    record: dict[str, Any] = json.loads(path.read_bytes())
    del record["digest"]
    record.update(changes)
    path.write_bytes(text_of(record))
    return record


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    """It is the user's own file."""
    kept, path = keep(tmp_path), tmp_path / "change.plan"
    write_plan(kept, str(path))
    assert read_plan(str(path)).record == kept.record
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["site.yaml", "change.plan"]


def test_the_manifest_of_a_plan_is_read_as_the_plan_is(written: Path) -> None:
    """A text of many unknown members is not taken in whole before it is refused."""
    assert manifest_of(str(written)) == json.loads(written.read_bytes())["manifest"]
    rewritten(written, **{f"zz{number}": 1 for number in range(3)})
    assert manifest_of(str(written)) == ""


def test_the_schema_allows_it(tmp_path: Path) -> None:
    """The schema that is published is the one that is checked, and the quick answer agrees."""
    schema = schemas.load("kept_plan")
    record = keep(tmp_path).record
    Draft202012Validator(schema).validate(record)
    quick = fits(schema)
    assert quick is not None
    assert quick(record)


def test_cut_short(written: Path) -> None:
    """Half a plan is told as that."""
    written.write_bytes(written.read_bytes()[:-40])
    assert "is truncated" in refusal(written)


def test_altered(written: Path) -> None:
    """Anything that was changed is an error that says so."""
    text = written.read_bytes()
    written.write_bytes(text.replace(b"alice@desk", b"mallory@pc"))
    expect_text(refusal(written))
    written.write_bytes(text.replace(b'"created"', b'"cretaed"'))
    expect_text(refusal(written))


def test_altered_with_its_digest(written: Path) -> None:
    """Who makes the digest anew must make the id anew, too, which is what people compare."""
    record = json.loads(written.read_bytes())
    record["outcomes"][0]["status"] = "stable"
    rewritten(written, outcomes=record["outcomes"])
    expect_text(refusal(written))


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": []},
        {"more": 1},
        {"expires": "tomorrow"},
        {"items": []},
        {"outcomes": []},
        {"files": {"site.yaml": "x"}},
    ],
)
def test_members_that_cannot_be(written: Path, changes: dict[str, Any]) -> None:
    """A plan that no ccm writes is refused, whatever its digest says."""
    rewritten(written, **changes)
    expect_text(refusal(written))


def own(path: Path) -> str:
    """Why a plan is not taken without signatures; "" where it is."""
    try:
        read_text(str(path), own=True)
    except InputError as error:
        return str(error)
    return ""


def test_a_plan_that_others_can_write(written: Path) -> None:
    """Without signatures neither the file nor its directory may be writable by others, nor those
    that a link leads to."""
    link = written.parent / "links" / "link.plan"
    link.parent.mkdir(mode=0o755)
    link.symlink_to(written)
    written.parent.chmod(0o755)
    assert (own(written), own(link)) == ("", "")
    for name, mode in ((written, 0o620), (written, 0o602), (written.parent, 0o775)):
        before = stat.S_IMODE(name.stat().st_mode)
        name.chmod(mode)
        for path in (written, link):
            assert f"{name} is writable by other users" in own(path)
            assert "ccm push --signers" in own(path)
        assert read_text(str(written))
        name.chmod(before)
    assert own(written) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_plan_of_another_user(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without signatures a file of another user is refused, and a link of his; sudo's is not."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    written.parent.chmod(0o755)
    link = written.parent / "link.plan"
    link.symlink_to(written)
    os.lchown(link, 12345, 12345)
    assert f"{link} belongs to another user (id 12345)" in own(link)
    os.chown(written, 12345, 12345)
    assert f"{written} belongs to another user (id 12345)" in own(written)
    monkeypatch.setenv("SUDO_UID", "12345")
    assert own(written) == ""


def test_a_plan_that_is_no_regular_file(tmp_path: Path) -> None:
    """A pipe is refused without signatures, and nothing waits for its other end."""
    tmp_path.chmod(0o755)
    os.mkfifo(tmp_path / "x.plan", 0o600)
    expect_text(own(tmp_path / "x.plan"))


def test_of_another_version(written: Path) -> None:
    """A format that is not known is named, with what to do."""
    rewritten(written, format=3)
    told = refusal(written)
    expect_text(told)


def test_unknown_members(written: Path) -> None:
    """A plan with a member that none has is refused with its place, and what stands behind it is
    not even read."""
    rewritten(written, aaa=1)
    expect_text(refusal(written))
    text = written.read_bytes()
    written.write_bytes(text[: text.index(b"aaa") + 100] + b"[" * 1_000_000)
    expect_text(refusal(written))


@pytest.mark.parametrize("text", ["", "ccm: {resources: []}", "[]", "{}", "[" * 100_000])
def test_no_plan_at_all(tmp_path: Path, text: str) -> None:
    """What is no plan is refused without a traceback."""
    path = tmp_path / "x.plan"
    path.write_text(text)
    assert "plan" in refusal(path)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    """The path and the reason are told."""
    expect_text(refusal(tmp_path / "missing.plan"))
    with pytest.raises(UsageError) as refused:
        write_plan(keep(tmp_path), str(tmp_path / "none" / "x.plan"))
    expect_text(refused.value)
    with pytest.raises(UsageError) as raised:
        require_writable(str(tmp_path / "none" / "x.plan"))
    expect_text(raised.value)
    with pytest.raises(UsageError) as caught:
        require_writable(str(tmp_path))
    expect_text(caught.value)
    require_writable(str(tmp_path / "x.plan"))
    manifest = tmp_path / "site.yaml"
    manifest.write_text("ccm: {resources: []}\n")
    with pytest.raises(UsageError) as failure:
        require_writable(str(manifest))
    expect_text(failure.value)
    manifest.write_text("")  # as mktemp makes it
    require_writable(str(manifest))
