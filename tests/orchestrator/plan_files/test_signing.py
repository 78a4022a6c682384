"""Plans are approved by signatures that OpenSSH's own program makes and checks."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.plan_files.signing import MAX_SIGNATURES, Approval, check_approved, sign
from remote_runtime.errors import InputError, UsageError
from tests.texts import expect_text

TEXT = b'{"protocol":"a plan"}\n'


@pytest.fixture
def key(tmp_path: Path) -> Callable[[str], str]:
    """Makes a key of that name; its path."""

    def make(name: str) -> str:
        path = tmp_path / name
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)]
        subprocess.run(words, check=True)
        return str(path)

    return make


@pytest.fixture
def plan(tmp_path: Path) -> str:
    """A plan in a checkout."""
    (tmp_path / "checkout" / ".git").mkdir(parents=True)
    path = tmp_path / "checkout" / "change.plan"
    path.write_bytes(TEXT)
    return str(path)


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    """Who may approve: said outside of the checkout."""
    path = tmp_path / "etc" / "allowed_signers"
    path.parent.mkdir()
    path.touch(0o644)
    path.chmod(0o644)
    return path


def allow(signers: Path, person: str, key: str, options: str = "") -> None:
    public = " ".join(Path(f"{key}.pub").read_text().split()[:2])
    with signers.open("a") as out:
        out.write(f"{person} {options}{public}\n")


def approved(plan: str, signers: Path, wanted: int = 1, text: bytes = TEXT) -> list[str]:
    manifest = str(Path(plan).parent / "sub" / "site.yaml")
    return check_approved(plan, text, Approval(str(signers), wanted), manifest)


def refusal(plan: str, signers: Path, wanted: int = 1, text: bytes = TEXT) -> str:
    with pytest.raises(InputError) as caught:
        approved(plan, signers, wanted, text)
    return str(caught.value)


def test_so_many_of_those_who_may(plan: str, signers: Path, key: Callable[[str], str]) -> None:
    """N of M: each who signed is named; one too few is refused."""
    for person in ("alice", "bob", "carol"):
        allow(signers, f"{person}@example.com", key(person))
    expect_text(refusal(plan, signers))
    assert sign(plan, TEXT, str(signers.parent.parent / "bob")) == f"{plan}.sig"
    assert approved(plan, signers) == ["bob@example.com"]
    expect_text(refusal(plan, signers, 2))
    sign(plan, TEXT, str(signers.parent.parent / "alice"))
    assert approved(plan, signers, 2) == ["alice@example.com", "bob@example.com"]
    assert oct(os.stat(f"{plan}.sig").st_mode & 0o777) == "0o600"


def test_signing_twice_counts_once(plan: str, signers: Path, key: Callable[[str], str]) -> None:
    """Neither one person with two keys nor one key of two people is two approvals."""
    first, second = key("first"), key("second")
    allow(signers, "alice@example.com", first)
    allow(signers, "alice@example.com", second)
    allow(signers, "alias@example.com", first)
    for one in (first, second, first):
        sign(plan, TEXT, one)
    told = refusal(plan, signers, 2)
    expect_text(told)


def test_who_may_not(plan: str, signers: Path, key: Callable[[str], str]) -> None:
    """Somebody else's signature, one for another purpose and one of another plan do not count."""
    mallory, alice = key("mallory"), key("alice")
    allow(signers, "alice@example.com", alice, 'namespaces="git" ')
    sign(plan, TEXT, mallory)
    sign(plan, TEXT, alice)
    told = refusal(plan, signers)
    expect_text(told)
    allow(signers, "mallory@example.com", mallory)
    assert approved(plan, signers) == ["mallory@example.com"]
    expect_text(refusal(plan, signers, text=TEXT + b" "))


def test_who_may_is_not_said_by_the_checkout(plan: str, signers: Path) -> None:
    """A file of the repository, also by a link, or one that others can write to is refused."""
    inside = Path(plan).parent / "allowed_signers"
    inside.touch(0o644)
    link = signers.parent / "link"
    link.symlink_to(inside)
    for path in (inside, link):
        with pytest.raises(UsageError, match="inside the checkout"):
            approved(plan, path)
    signers.chmod(0o666)
    with pytest.raises(UsageError, match="is writable by other users"):
        approved(plan, signers)
    with pytest.raises(UsageError, match="cannot be read"):
        approved(plan, signers.parent / "none")
    with pytest.raises(UsageError, match="is not a file"):
        approved(plan, signers.parent)


@pytest.mark.parametrize("text", [b"x", b"-----BEGIN SSH SIGNATURE-----\n", b"\xff" * 99])
def test_what_is_no_signature(plan: str, signers: Path, text: bytes) -> None:
    """A file of signatures that is damaged is told as that."""
    Path(f"{plan}.sig").write_bytes(text)
    expect_text(refusal(plan, signers))


def test_a_damaged_signature_is_of_nobody(plan: str, signers: Path) -> None:
    """What looks like a signature and is none counts for nothing."""
    block = b"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
    Path(f"{plan}.sig").write_bytes(block)
    expect_text(refusal(plan, signers))


def test_a_key_that_cannot_sign(plan: str, tmp_path: Path) -> None:
    """What ssh-keygen says is told, and nothing is written."""
    with pytest.raises(UsageError) as refused:
        sign(plan, TEXT, str(tmp_path / "none"))
    expect_text(refused.value)
    assert not Path(f"{plan}.sig").exists()


def test_a_signature_that_cannot_be_kept_is_told(plan: str, key: Callable[[str], str]) -> None:
    """What stands in the place of the signatures is not followed, and is no defect of ccm."""
    Path(f"{plan}.sig").symlink_to("/dev/full")
    with pytest.raises(UsageError) as refused:
        sign(plan, TEXT, key("alice"))
    expect_text(refused.value)


def test_a_file_of_too_many_signatures(plan: str, signers: Path, key: Callable[[str], str]) -> None:
    """Each signature takes several programs to check, so a file of hundreds is refused at once."""
    own = key("alice")
    allow(signers, "alice", own)
    sign(plan, TEXT, own)
    beside = Path(plan + ".sig")
    one = beside.read_bytes()
    beside.write_bytes(one * (MAX_SIGNATURES + 1))
    assert f"more than {MAX_SIGNATURES} signatures" in refusal(plan, signers)
