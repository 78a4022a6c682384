"""The files of a site travel whole, and nothing that is not one of them."""

import io
import os
import tarfile
from pathlib import Path

import pytest

from orchestrator.cluster import bundle, certificates
from orchestrator.cluster.bundle import pack, unpack
from orchestrator.cluster.private_files import PrivateFiles
from remote_runtime.errors import UsageError
from tests.texts import expect_text


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A directory with a manifest and what belongs to it."""
    directory = tmp_path / "site"
    (directory / "files").mkdir(parents=True)
    (directory / "site.yaml").write_text("ccm: {}\n")
    (directory / "files/tool").write_text("#!/bin/sh\n")
    (directory / "files/tool").chmod(0o755)
    (directory / "files/link").symlink_to("tool")
    (directory / "all").symlink_to("files")
    return directory


def test_all_files_are_there_again_with_links_and_what_may_be_run(
    site: Path, tmp_path: Path
) -> None:
    """Below another root, each at the path that it had."""
    outside = tmp_path / "common.yaml"
    outside.write_text("a: 1\n")
    root = tmp_path / "root"
    unpack(pack([site], [outside, site / "site.yaml"]), root)
    there = Path(f"{root}{site}")
    assert (there / "site.yaml").read_text() == "ccm: {}\n"
    assert os.access(there / "files/tool", os.X_OK)
    assert not os.access(there / "site.yaml", os.X_OK)
    assert os.readlink(there / "files/link") == "tool"
    assert (there / "all/tool").read_text() == "#!/bin/sh\n"
    assert Path(f"{root}{outside}").read_text() == "a: 1\n"


def test_the_same_files_are_the_same_bytes(site: Path) -> None:
    """Whenever they were written."""
    first = pack([site], [])
    os.utime(site / "site.yaml", (1, 1))
    assert pack([site], []) == first
    (site / "site.yaml").write_text("ccm: {resources: []}\n")
    assert pack([site], []) != first


def test_histories_and_private_keys_stay(site: Path) -> None:
    """Unless the manifest names them: then they are content."""
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n"
    (site / ".git").mkdir()
    (site / ".git/config").write_text("url\n")
    (site / "mine").write_text(key)
    (site / "hosts.yaml").write_text("hosts: {}\n")
    packed = pack([site], [], [site / "hosts.yaml"])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        names = archive.getnames()
    assert {Path(name).name for name in names} == {"site.yaml", "tool", "link", "all"}
    assert b"secret" in pack([site], [site / "mine"])


def test_a_named_link_goes_as_what_it_leads_to(site: Path, tmp_path: Path) -> None:
    """It may lead out of the directory, since the user wrote its name."""
    outside = tmp_path / "outside"
    outside.write_text("text")
    (site / "named").symlink_to(outside)
    root = tmp_path / "root"
    unpack(pack([site], [site / "named"]), root)
    assert not Path(f"{root}{site}/named").is_symlink()
    assert Path(f"{root}{site}/named").read_text() == "text"


def test_links_to_directories_are_no_obstacle(site: Path, tmp_path: Path) -> None:
    """Files are named through them, whether they lead out of the site or not."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "motd").write_text("shared")
    (site / "out").symlink_to(shared)
    (site / "files/relative").symlink_to("../../shared/motd")
    (site / "absolute").symlink_to(site / "files/tool")
    (site / "up").symlink_to("../..")
    root = tmp_path / "root"
    unpack(pack([site], [site / "out/motd", site / "all/tool"]), root)
    there = Path(f"{root}{site}")
    assert (there / "out/motd").read_text() == "shared"
    assert (there / "files/relative").read_text() == "shared"
    assert (there / "all/tool").read_text() == (there / "absolute").read_text() == "#!/bin/sh\n"
    assert (there / "absolute").resolve().is_relative_to(root.resolve())
    assert not (there / "up").is_symlink()


def test_a_link_takes_no_private_key_along(site: Path, tmp_path: Path) -> None:
    """Nor what is the controller's own."""
    (tmp_path / "key").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n")
    (tmp_path / "hosts.yaml").write_text("secret: 1\n")
    (site / "key").symlink_to(tmp_path / "key")
    (site / "hosts").symlink_to(tmp_path / "hosts.yaml")
    assert b"secret" not in pack([site], [], [tmp_path / "hosts.yaml"])


def test_what_stays_does_so_by_whatever_name(site: Path, tmp_path: Path) -> None:
    """The inventory may be given through a link, or the manifest."""
    (site / "files/hosts.yaml").write_text("secret: 1\n")
    (tmp_path / "link").symlink_to(site)
    assert b"secret" not in pack([site], [], [tmp_path / "link/files/hosts.yaml"])
    assert b"secret" not in pack([tmp_path / "link"], [], [site / "files/hosts.yaml"])
    assert b"secret" in pack([tmp_path / "link"], [], [site / "files/hosts"])


def test_a_home_directory_is_no_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All that a person has would go to the workers."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    for directory in (tmp_path / "home", tmp_path, Path("/"), tmp_path / "link"):
        with pytest.raises(UsageError) as refused:
            pack([directory], [])
        expect_text(refused.value)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    with pytest.raises(UsageError) as raised:
        pack([tmp_path / "home"], [])
    expect_text(raised.value)


def test_what_is_too_much_is_refused(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """Too many files, or too large ones."""
    monkeypatch.setattr(bundle, "MAX_FILES", 3)
    with pytest.raises(UsageError) as refused:
        pack([site], [])
    expect_text(refused.value)
    monkeypatch.setattr(bundle, "MAX_FILES", 100)
    monkeypatch.setattr(bundle, "MAX_BYTES", 12)
    with pytest.raises(UsageError, match="larger than"):
        pack([site], [])


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/../../b"])
def test_nothing_is_written_outside_of_the_root(tmp_path: Path, name: str) -> None:
    """Whatever an archive says."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    with pytest.raises(ValueError, match="points outside"):
        unpack(out.getvalue(), tmp_path / "root")


def test_an_authority_in_the_directory_of_the_site_stays(site: Path, tmp_path: Path) -> None:
    """The directory that ccm engine init made, and the one that the user names, by any name."""
    certificates.make_authority(site / "engine")
    (site / "tls").mkdir()
    for name in ("ca.pem", "client.pem", "notes"):
        (site / "tls" / name).write_text("secret\n")
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer/ca-key.pem").write_text("secret\n")
    (site / "files/through").symlink_to(tmp_path / "outer/ca-key.pem")
    (tmp_path / "named").symlink_to(site / "tls")
    private = PrivateFiles([tmp_path / "named"])
    packed = pack([site], [], private=private)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        names = {Path(name).name for name in archive.getnames()}
    assert names == {"site.yaml", "tool", "link", "all"}
    assert b"secret" not in packed
    assert {path.name for path in private.left_out} == {"engine", "tls", "through"}


def test_a_site_in_the_same_directory_as_its_certificates_goes_without_them(site: Path) -> None:
    """Its manifest is sent as ever."""
    certificates.make_authority(site)
    with tarfile.open(fileobj=io.BytesIO(pack([site], []))) as archive:
        names = {Path(name).name for name in archive.getnames()}
    assert names == {"site.yaml", "tool", "link", "all"}
