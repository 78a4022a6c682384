"""known_hosts: reading, judging and writing."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from typing import Any

import pytest

from orchestrator.transport import Settings
from orchestrator.transport.host_keys.key_trust import ScannedKey, compare_key, trust
from orchestrator.transport.host_keys.known_hosts import (
    KnownHosts,
    Line,
    fingerprint,
    hashed,
    name_matches,
)
from orchestrator.transport.route import Route, Router
from remote_runtime.errors import InputError
from tests.calls import calls_of
from tests.orchestrator.transport.fakes import Host
from tests.texts import expect_text

KEY_A, KEY_B = b"\0\0\0\x0bssh-ed25519 A", b"\0\0\0\x0bssh-ed25519 B"


def text(blob: bytes) -> str:
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


def route(path: Path, name: str = "web1", port: int = 22) -> Route:
    host = Host(name=name, address=name, port=port, known_hosts=str(path))
    return Router(Settings(ssh_config=(path.parent / "no_config",))).route(host)


def state(path: Path, blob: bytes, name: str = "web1", port: int = 22) -> str:
    return compare_key(route(path, name, port), "ssh-ed25519", blob).state


@pytest.mark.parametrize(
    ("names", "name", "port", "known"),
    [
        ("web1", "web1", 22, True),
        ("db1,WEB1", "web1", 22, True),
        ("[web1]:2222", "web1", 2222, True),
        ("[web1]:2222", "web1", 22, False),
        ("web1", "web1", 2222, True),
        ("web*", "web1", 22, True),
        ("web*,!web1", "web1", 22, False),
        ("[web?]:22*", "web1", 2222, True),
        ("web2", "web1", 22, False),
        pytest.param(hashed("web1"), "web1", 22, True, id="hashed"),
        pytest.param(hashed("[web1]:2222"), "web1", 2222, True, id="hashed with port"),
        pytest.param(hashed("web2"), "web1", 22, False, id="another hashed"),
        ("|1|broken", "web1", 22, False),
    ],
)
def test_names(tmp_path: Path, names: str, name: str, port: int, known: bool) -> None:
    """Plain, hashed, with wildcards, negated, and with ports."""
    path = tmp_path / "known"
    path.write_text(f"{names} {text(KEY_A)} comment\n")
    assert state(path, KEY_A, name, port) == ("same" if known else "new")


def test_a_line_with_the_port_beats_one_without(tmp_path: Path) -> None:
    """The name alone stands in only where no line has the port."""
    path = tmp_path / "known"
    path.write_text(f"web1 {text(KEY_A)}\n[web1]:2222 {text(KEY_B)}\n")
    assert state(path, KEY_A, port=2222) == "changed"
    assert state(path, KEY_B, port=2222) == "same"


def test_states(tmp_path: Path) -> None:
    """New, same, changed, and revoked whatever else is known."""
    path = tmp_path / "known"
    assert state(path, KEY_A) == "new"
    path.write_text(f"web1 {text(KEY_A)}\n")
    assert state(path, KEY_A) == "same"
    assert state(path, KEY_B) == "changed"
    path.write_text(f"web1 {text(KEY_A)}\n@revoked * {text(KEY_A)}\n")
    assert state(path, KEY_A) == "revoked"


def test_what_is_no_key_is_passed_over(tmp_path: Path) -> None:
    """Comments, blank lines, broken base64 and old formats do no harm."""
    path = tmp_path / "known"
    path.write_bytes(
        b"# x\n\nweb1\nweb1 ssh-ed25519 !!!\nweb1 1024 35 99\n\xff\xfe\n"
        + f"web1 {text(KEY_A)}\n".encode()
    )
    assert state(path, KEY_A) == "same"


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """What was trusted a moment ago is known now."""
    path = tmp_path / "known"
    path.write_text("")
    assert state(path, KEY_A) == "new"
    path.write_text(f"web1 {text(KEY_A)}\n")
    assert state(path, KEY_A) == "same"


def test_fingerprints_are_shown_as_ssh_shows_them() -> None:
    """SHA256, base64, without padding."""
    assert fingerprint(b"") == "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"


def test_hashed_names_do_not_repeat() -> None:
    """Each has a salt of its own and matches its host only."""
    one, other = hashed("web1"), hashed("web1")
    assert one != other
    assert name_matches("web1", one)
    assert not name_matches("web2", one)


def test_large_files_are_quick(tmp_path: Path) -> None:
    """Ten thousand plain lines cost a table lookup per host."""
    path = tmp_path / "known"
    path.write_text("".join(f"h{n} {text(KEY_A)}\n" for n in range(10_000)))
    KnownHosts([path]).lookup("h1")
    found: list[list[Line]] = []
    calls = calls_of(lambda: found.extend(KnownHosts([path]).lookup(f"h{n}") for n in range(100)))
    assert all(found)
    assert calls < 100 * 1000  # one for each line would be ten times that


def shown(path: Path, blob: bytes, **changes: Any) -> ScannedKey:
    changed = route(path)._replace(**changes)
    return compare_key(changed, "ssh-ed25519", blob)


def test_trusting_keeps_the_rest_of_the_file(tmp_path: Path) -> None:
    """Comments, other hosts, markers, the mode and what cannot be read stay as they are."""
    path = tmp_path / "known"
    rest = f"# mine\n\nweb2 {text(KEY_B)}  note\n@cert-authority * {text(KEY_B)}\nodd line\n"
    path.write_text(rest)
    path.chmod(0o640)
    assert trust([shown(path, KEY_A)]) == [path]
    assert path.read_text() == rest + f"web1 {text(KEY_A)}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert state(path, KEY_A) == "same"


def test_a_changed_key_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """Plain, shared and hashed lines lose the host; others on the same line keep their key."""
    path = tmp_path / "known"
    path.write_text(
        f"web1 {text(KEY_A)}\nweb1,web2 {text(KEY_A)} note\n{hashed('web1')} {text(KEY_A)}\n"
    )
    trust([shown(path, KEY_B)])
    assert path.read_text() == f"web2 {text(KEY_A)} note\nweb1 {text(KEY_B)}\n"


def test_a_new_file_is_private_and_its_directory_is_made(tmp_path: Path) -> None:
    """~/.ssh may not be there yet."""
    path = tmp_path / "ssh" / "known_hosts"
    trust([shown(path, KEY_A)])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_symlink_stays_one(tmp_path: Path) -> None:
    """The file that the link names is written."""
    (tmp_path / "real").write_text("")
    (tmp_path / "known").symlink_to("real")
    trust([shown(tmp_path / "known", KEY_A)])
    assert (tmp_path / "known").is_symlink()
    assert text(KEY_A) in (tmp_path / "real").read_text()


def test_names_are_hashed_where_that_is_wanted(tmp_path: Path) -> None:
    """HashKnownHosts yes."""
    path = tmp_path / "known"
    trust([shown(path, KEY_A, hash_names=True)])
    assert path.read_text().startswith("|1|")
    assert state(path, KEY_A) == "same"


def test_what_is_known_or_revoked_is_not_written(tmp_path: Path) -> None:
    """Only new and changed keys are."""
    path = tmp_path / "known"
    path.write_text(f"web1 {text(KEY_A)}\n@revoked * {text(KEY_B)}\n")
    assert trust([shown(path, KEY_A), shown(path, KEY_B)]) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The error names the file and leaves nothing behind."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as refused:
        trust([shown(tmp_path / "file" / "known", KEY_A)])
    expect_text(refused.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_a_changed_key_leaves_none_of_the_files(tmp_path: Path) -> None:
    """Where several files are read, the old key goes from each, and the new one into the first."""
    first, second = tmp_path / "known", tmp_path / "known2"
    first.write_text(f"web2 {text(KEY_A)}\n")
    second.write_text(f"web1 {text(KEY_A)}\nweb3 {text(KEY_A)}\n")
    changed = shown(first, KEY_B, known_hosts=(first, second))
    assert changed.state == "changed"
    assert trust([changed]) == [second, first]
    assert first.read_text() == f"web2 {text(KEY_A)}\nweb1 {text(KEY_B)}\n"
    assert second.read_text() == f"web3 {text(KEY_A)}\n"


def test_a_file_of_windows_is_read(tmp_path: Path) -> None:
    """A mark at its beginning and line ends of two characters change no name and no key."""
    path = tmp_path / "known"
    path.write_bytes(f"\ufeffweb1 {text(KEY_A)}\r\nweb2 {text(KEY_B)}\r\n".encode())
    assert state(path, KEY_A) == "same"
    assert state(path, KEY_B) == "changed"
    assert trust([shown(path, KEY_B)]) == [path]
    assert path.read_text() == f"web2 {text(KEY_B)}\nweb1 {text(KEY_B)}\n"
