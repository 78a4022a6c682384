"""What each kind of resource is expected to be, judged from what testinfra finds."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from orchestrator.manifest.resource_types import BUILT_IN
from orchestrator.verify.checks import expectations_of
from orchestrator.verify.expectation import Expectation, equal, judge
from orchestrator.verify.host_check import observe
from orchestrator.verify.shell import Answer
from orchestrator.verify.subject import Subject
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.verify.fakes import FEDORA, Script, item, mismatches, said
from tests.texts import expect_text

ME = pwd.getpwuid(os.getuid()).pw_name
MINE = grp.getgrgid(os.getgid()).gr_name
OTHER = "someone-else"


def of(type_: str, name: object, **properties: Any) -> list[Expectation]:
    expectations = expectations_of(type_, BUILT_IN)
    assert expectations is not None
    return expectations(Subject(str(name), properties))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "it's a file"
    file.write_text("hello\n", encoding="utf-8")
    file.chmod(0o640)
    return file


def owned(**more: Any) -> dict[str, Any]:
    return {"owner": ME, "group": MINE, "mode": "0640", **more}


def test_a_file_as_it_should_be(path: Path) -> None:
    """Type, content, owner, group and mode agree, by name and by number."""
    assert said(of("file", path, content="hello\n", **owned())) == []
    by_id = {"owner": str(os.getuid()), "group": str(os.getgid()), "mode": "0o640"}
    assert said(of("file", path, **by_id)) == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"content": "bye\n"}, "content: expected SHA-256 "),
        ({"owner": OTHER}, f"owner: expected {OTHER}, found {ME}"),
        ({"group": OTHER}, f"group: expected {OTHER}, found {MINE}"),
        ({"owner": "4711"}, f"owner: expected 4711, found {os.getuid()}"),
        ({"group": "4711"}, f"group: expected 4711, found {os.getgid()}"),
        ({"mode": "600"}, "mode: expected 0600, found 0640"),
    ],
)
def test_one_thing_of_a_file_differs(path: Path, change: dict[str, str], line: str) -> None:
    """Each difference is one line, and the only one."""
    (found,) = said(of("file", path, **owned(content="hello\n") | change))
    assert found.startswith(line)


def test_special_bits_are_judged_where_the_mode_speaks_of_them(tmp_path: Path) -> None:
    """A directory may have what bits the mode says nothing of; a file may not."""
    directory, file = tmp_path / "d", tmp_path / "f"
    directory.mkdir()
    directory.chmod(0o2755)
    file.touch()
    file.chmod(0o4755)
    for path, ensure, mode, line in (
        (directory, "directory", "0755", []),
        (directory, "directory", "2755", []),
        (directory, "directory", "00755", ["mode: expected 0755, found 2755"]),
        (directory, "directory", "1755", ["mode: expected 1755, found 2755"]),
        (file, "present", "4755", []),
        (file, "present", "0755", ["mode: expected 0755, found 4755"]),
    ):
        assert said(of("file", path, ensure=ensure, **owned(mode=mode))) == line, mode


def test_a_directory_behind_a_symlink(tmp_path: Path) -> None:
    """A symlink to a directory is one; owner and mode are judged of the directory."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real").chmod(0o750)
    (tmp_path / "file").touch()
    for name in ("real", "file", "nowhere"):
        (tmp_path / f"to-{name}").symlink_to(name)
    for name, mode, line in (
        ("to-real", "0750", []),
        ("to-real", "0755", ["mode: expected 0755, found 0750"]),
        ("to-file", "0755", ["type: expected a directory, found a file"]),
        ("to-nowhere", "0755", ["type: expected a directory, found nothing"]),
    ):
        wanted = owned(mode=mode)
        assert said(of("file", tmp_path / name, ensure="directory", **wanted)) == line, name


def test_what_is_no_file_is_not_looked_into(tmp_path: Path, path: Path) -> None:
    """Of a path of another kind only the kind is told."""
    link = tmp_path / "link"
    link.symlink_to(path)
    for name, found in ((tmp_path, "a directory"), (link, "a symlink"), ("/no/such", "nothing")):
        assert said(of("file", name, content="x", **owned())) == [
            f"type: expected a file, found {found}"
        ]
    expect_text(said(of("file", path, ensure="directory", **owned())))


def test_a_fifo_is_not_read(tmp_path: Path) -> None:
    """Nobody writes to it: its kind is told, and nothing waits for its content."""
    os.mkfifo(tmp_path / "pipe")
    expect_text(said(of("file", tmp_path / "pipe", content="x", **owned())))


def test_a_backslash_in_a_name(tmp_path: Path) -> None:
    """The content of such a file is compared like that of any other."""
    file = tmp_path / "a\\b\nc"
    file.write_text("hello\n", encoding="utf-8")
    file.chmod(0o640)
    assert said(of("file", file, content="hello\n", **owned())) == []


def test_two_files_that_cannot_be_read_are_not_the_same(path: Path) -> None:
    """Where neither hash is told nothing says that the contents agree."""
    questions = {f"test -f {name} && sha256sum <{name}": (2, "") for name in ("/f", "/g")}
    there = {"stat -c %F -- /f": (0, "regular file")}
    (line,) = said(of("file", "/f", source="/g"), Script({**questions, **there}).read_all)
    assert line.startswith("content: expected the content of /g, found no result")


def test_a_directory_that_may_not_be_entered(tmp_path: Path) -> None:
    """What is there cannot be told, so it does not count as absent."""

    def refused(commands: Sequence[bytes]) -> list[Answer]:
        said = b"stat: cannot statx '/root/x': Permission denied\n"
        return [Answer(1, b"", said) for _ in commands]

    assert said(of("file", "/root/x", ensure="absent"), refused) == [
        "path: expected nothing, found no result (stat: cannot statx '/root/x': Permission denied)"
    ]


def test_a_directory_can_be_entered_by_who_may_read_it(tmp_path: Path) -> None:
    """The x bits that the type adds are expected."""
    directory = tmp_path / "d"
    directory.mkdir()
    directory.chmod(0o750)
    assert said(of("file", directory, ensure="directory", **owned())) == []


def test_nothing_means_nothing(tmp_path: Path, path: Path) -> None:
    """Neither a file nor a symlink that leads nowhere may be at an absent path."""
    assert said(of("file", tmp_path / "none", ensure="absent")) == []
    expect_text(said(of("file", path, ensure="absent")))
    (tmp_path / "link").symlink_to("nowhere")
    expect_text(said(of("file", tmp_path / "link", ensure="absent")))


def test_a_source_of_the_target_is_read_there(tmp_path: Path, path: Path) -> None:
    """The content of the other file now is what is expected; one that is gone is told."""
    copy = tmp_path / "copy"
    copy.write_text("hello\n", encoding="utf-8")
    assert said(of("file", copy, source=str(path))) == []
    copy.write_text("other\n", encoding="utf-8")
    (line,) = said(of("file", copy, source=str(path)))
    assert line.startswith(f"content: expected the content of {path}, found SHA-256 ")
    expect_text(line)


def test_a_source_beside_the_manifest_is_compared_by_its_hash(path: Path) -> None:
    """What travels by hash in the plan is compared by that hash."""
    blob = {"$blob": "0" * 64, "size": 1}
    (line,) = said(of("file", path, source=blob))
    assert line.startswith("content: expected SHA-256 0000000000000000…, found SHA-256 5891b5b5")


def test_a_sensitive_resource_shows_nothing(path: Path) -> None:
    """What differs is named, the values are not."""
    (found,) = mismatches(of("file", path, content="secret"), hidden=True)
    expect_text(str(found))


def test_what_an_exec_creates(path: Path) -> None:
    """Only a path that the command must have made is looked for."""
    assert said(of("exec", "make", creates=str(path))) == []
    expect_text(said(of("exec", "make", creates="/no/such")))
    assert said(of("exec", "make", creates=path.name, cwd=str(path.parent))) == []
    assert of("exec", "make", command="true") == []
    assert of("exec", "make", creates="/no/such", refresh_only=True) == []


def test_what_an_archive_leaves(tmp_path: Path, path: Path) -> None:
    """What was extracted stands for the whole; else the archive, its checksum and its owner."""
    sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    plain = {"owner": ME, "group": MINE}
    assert said(of("archive", path, checksum=sha.upper(), **plain)) == []
    (line,) = said(of("archive", path, checksum="0" * 64, **plain))
    assert line.startswith("checksum: expected SHA-256 0000")
    assert said(of("archive", "/no/such.zip", creates=str(path), **plain)) == []
    expect_text(said(of("archive", path, creates=str(path), cleanup=True)))
    expect_text(said(of("archive", path, extract_parent=str(tmp_path / "none"), **plain)))
    expect_text(said(of("archive", path, ensure="absent")))


def test_what_a_purge_leaves(tmp_path: Path) -> None:
    """Nothing is told that a resource names through a link, or as the target of one."""
    top = tmp_path / "d"
    (top / "real").mkdir(parents=True)
    for name in ("real/a", "end", "release", ".c.~1234567890~", "other"):
        (top / name).touch()
    (top / "way").symlink_to("real")
    (tmp_path / "out").symlink_to("d/end")
    run = [
        item("file", f"{top}/way/a"),
        item("edit", f"{tmp_path}/out"),
        item("link", f"{top}/now", properties={"target": "release"}),
        item("file", f"{top}/c", properties={"backup": True}),
    ]
    subject = Subject(str(top), {"ensure": "directory", "purge": True}, run)
    expectations = expectations_of("file", BUILT_IN)
    assert expectations is not None
    expect_text(said(expectations(subject)))


def test_what_a_scaffold_holds(tmp_path: Path, path: Path) -> None:
    """Every file by its content, each told by its own path; others only with purge."""
    sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run").write_text("hello\n", encoding="utf-8")
    files = [
        {"path": path.name, "$blob": sha, "size": 6},
        {"path": "sub/run", "$blob": sha, "size": 6},
    ]
    source = {"$tree": "t", "files": files, "directories": ["sub"]}
    assert said(of("scaffold", tmp_path, source=source, purge=True)) == []
    files[1] |= {"executable": True, "$blob": "0" * 64}
    files.append({"path": "gone", "$blob": sha, "size": 6})
    (tmp_path / "more").touch()
    lines = said(of("scaffold", tmp_path, source=source, purge=True))
    expect_text([line.split(", found")[0] for line in lines])
    assert lines[-1].endswith("found more")
    formatted = of("scaffold", tmp_path, source=source, post=[{"run": "fmt"}, {"go*": "fmt"}])
    assert [line.split(":")[0] for line in said(formatted)] == ["sub/run mode", "gone"]
    absent = of("scaffold", tmp_path, source=source, ensure="absent")
    assert [line.split(":")[0] for line in said(absent)] == [path.name, "sub/run"]


STATUS = "dpkg-query -f '${Status}' -W nginx"
VERSION = "dpkg-query -f '${Status} ${Version}' -W nginx"


def debian(version: str = "", status: str = "install ok installed") -> Script:
    if not version:
        return Script({STATUS: (1, "")})
    return Script({STATUS: (0, status), VERSION: (0, f"{status} {version}")})


@pytest.mark.parametrize(
    ("ensure", "installed", "line"),
    [
        ("present", "1.0-1", None),
        ("present", "", "state: expected installed, found not installed"),
        ("latest", "1.0-1", None),
        ("absent", "", None),
        ("absent", "1.0-1", "state: expected not installed, found version 1.0-1"),
        ("1.0-1", "1.0-1", None),
        ("0:1.0-1", "1.0-1", None),
        ("1.0-1", "1.0-2", "version: expected 1.0-1, found 1.0-2"),
        ("1.0-1", "2:1.0-1", "version: expected 1.0-1, found 2:1.0-1"),
        ("1.0", "1.00", None),
        ("1.0~rc1", "1.0", "version: expected 1.0~rc1, found 1.0"),
    ],
)
def test_a_package_of_debian(ensure: str, installed: str, line: str | None) -> None:
    """Installed, absent or of one version, as dpkg tells versions apart."""
    lines = said(of("package", "nginx", ensure=ensure), debian(installed).read_all)
    assert lines == ([line] if line else [])


def test_a_removed_package_whose_configuration_stayed(tmp_path: Path) -> None:
    """dpkg knows it, but it is not installed."""
    script = debian("1.0-1", "deinstall ok config-files")
    assert said(of("package", "nginx", ensure="absent"), script.read_all) == []


@pytest.mark.parametrize(
    ("ensure", "line"),
    [
        ("5.8", None),
        ("5.8-9.el9", None),
        ("0:5.8-9.el9", None),
        ("5.8-10.el9", "version: expected 5.8-10.el9, found 5.8-9.el9"),
        ("5.9", "version: expected 5.9, found 5.8-9.el9"),
    ],
)
def test_a_package_of_fedora(ensure: str, line: str | None) -> None:
    """A release counts where one is asked for."""
    script = Script(
        {
            "rpm -q --quiet zsh 2>&1": (0, ""),
            'rpm -q --queryformat="%{VERSION}" zsh': (0, "5.8"),
            'rpm -q --queryformat="%{RELEASE}" zsh': (0, "9.el9"),
        },
        FEDORA,
    )
    assert said(of("package", "zsh", ensure=ensure), script.read_all) == ([line] if line else [])


def unit(active: str, boot: str, load: str = "loaded", now: str = "") -> Script:
    """A unit as systemd shows it; ``now`` is what it says of its file when it looks again."""
    shown = f"LoadState={load}\nActiveState={active}\nUnitFileState={boot}"
    return Script(
        {
            "systemctl show app.service": (0, shown),
            "systemctl is-active -- app.service": (0, f"{active}\n"),
            "systemctl is-enabled -- app.service": (1, f"{now or boot}\n"),
        }
    )


def test_a_name_that_an_install_section_gives() -> None:
    """The unit is looked at under its own name, while it is disabled too."""
    directories = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"]
    look = "grep -rsE '^Alias *=' " + " ".join(
        f"{directory}/systemd/system" for directory in directories
    )
    host = Script({
        "systemctl show other.service": (0, "LoadState=not-found\nActiveState=inactive"),
        "systemctl show app.service": (0, "LoadState=loaded\nActiveState=active"),
        "systemctl is-active -- app.service": (0, "active\n"),
        look: (0, "/usr/lib/systemd/system/x.service:Alias=no.service\n"
                  "/usr/lib/systemd/system/app.service:Alias=an.service other.service\n"),
    })  # fmt: skip
    assert said(of("service", "other.service", ensure="running"), host.read_all) == []


@pytest.mark.parametrize(
    ("enable", "shown", "now", "lines"),
    [
        (True, "enabled", "disabled", ["at boot: expected enabled, found disabled"]),
        (False, "enabled", "disabled", []),
        (True, "disabled", "enabled", []),
        (True, "generated", "disabled", ["at boot: expected enabled, found disabled"]),
        (False, "generated", "disabled", []),
        (True, "generated", "generated", []),
    ],
)
def test_links_that_came_or_went_since(
    enable: bool, shown: str, now: str, lines: list[str]
) -> None:
    """What systemd remembers of a loaded unit is not what counts at the next boot."""
    host = unit("active", shown, now=now)
    resource = of("service", "app.service", ensure="running", enable=enable)
    assert said(resource, host.read_all) == lines


@pytest.mark.parametrize(
    ("active", "boot", "lines"),
    [
        ("active", "enabled", []),
        ("reloading", "alias", []),
        ("active", "static", []),
        ("failed", "enabled", ["state: expected running, found failed"]),
        ("activating", "enabled", ["state: expected running, found activating"]),
        ("active", "disabled", ["at boot: expected enabled, found disabled"]),
        ("active", "enabled-runtime", ["at boot: expected enabled, found enabled-runtime"]),
        ("active", "masked", ["at boot: expected enabled, found masked"]),
        ("active", "", ["at boot: expected enabled, found no unit file"]),
    ],
)
def test_a_service_that_should_run(active: str, boot: str, lines: list[str]) -> None:
    """Its state now, and at boot; what cannot be enabled satisfies either."""
    host = unit(active, boot)
    found = said(of("service", "app.service", ensure="running", enable=True), host.read_all)
    assert found == lines


@pytest.mark.parametrize(
    ("active", "boot", "lines"),
    [
        ("inactive", "disabled", []),
        ("failed", "static", []),
        ("active", "linked", ["state: expected stopped, found active"]),
        ("activating", "disabled", ["state: expected stopped, found activating"]),
        ("deactivating", "masked", ["state: expected stopped, found deactivating"]),
        ("inactive", "enabled-runtime", ["at boot: expected disabled, found enabled-runtime"]),
    ],
)
def test_a_service_that_should_not_run(active: str, boot: str, lines: list[str]) -> None:
    """Stopped and disabled; one that is restarted over and over is neither."""
    host = unit(active, boot)
    found = said(of("service", "app.service", ensure="stopped", enable=False), host.read_all)
    assert found == lines


@pytest.mark.parametrize("ensure", ["running", "stopped"])
def test_a_service_that_there_is_not(ensure: str) -> None:
    """A push fails for a unit that does not exist, so a verify does."""
    lines = said(
        of("service", "app.service", ensure=ensure, enable=False),
        unit("inactive", "", "not-found").read_all,
    )
    assert lines == [
        f"state: expected {ensure}, found no such unit",
        "at boot: expected disabled, found no unit file",
    ]


def test_a_service_whose_name_looks_like_an_option() -> None:
    """The mount of the root is asked for behind the end of the options."""
    shown = "systemctl show --value --property=LoadState -- -.mount"
    host = Script({shown: (0, "loaded"), "systemctl is-active -- -.mount": (0, "active\n")})
    assert said(of("service", "-.mount", ensure="running"), host.read_all) == []


def test_a_question_without_an_answer_does_not_hold() -> None:
    """A host where the program is missing is told with what it said."""
    lines = said(of("package", "nginx"), Script({}).read_all)
    expect_text(lines)


def test_what_a_host_says_cannot_act_on_a_terminal() -> None:
    """Control characters and line breaks of a host do not reach the report, nor long texts."""
    evil = "\x1b[31mroot\x1b[0m\r\nweb2  9 passed" + "x" * 1000
    script = Script(
        {
            "stat -c %F -- /f": (0, "regular file"),
            "stat -Lc %U /f": (0, evil),
            "stat -Lc %G /f": (0, "root"),
            "stat -Lc %a /f": (0, "rwx\x1b]0;title\x07"),
        }
    )
    lines = said(of("file", "/f", owner="root", group="root", mode="0644"), script.read_all)
    assert [line.split(":")[0] for line in lines] == ["owner", "mode"]
    assert lines[0].startswith("owner: expected root, found root web2 9 passedxxx")
    assert all(line.isprintable() and len(line) < 300 for line in lines)


def test_secrets_are_masked_on_both_sides(path: Path) -> None:
    """Neither what was expected nor what was found shows a secret of the data."""
    expectation = equal("word", "hunter22", lambda host: "not-hunter22")
    (answers,) = observe("web1", [[expectation]], Script({}).read_all)
    (line,) = judge([expectation], answers, Mask(["hunter22"]), False)
    expect_text(str(line))


def test_jobs_of_a_host_without_cron() -> None:
    """A host without cron has no job, whether it is to have one or not."""

    def read_all(commands: Sequence[bytes]) -> list[Answer]:
        codes = [3 if b"spool" in command else 127 for command in commands]
        return [Answer(code, b"", b"crontab: not found") for code in codes]

    job = {"crontab": True, "schedule": "@daily", "command": "true"}
    assert mismatches(of("cron", "job", ensure="absent", crontab=True), read_all) == []
    (missing,) = mismatches(of("cron", "job", **job), read_all)
    assert (missing.what, missing.found) == ("job", "none")


def test_user_without_groups() -> None:
    """A user that is in no further group is told as that."""

    def read_all(commands: Sequence[bytes]) -> list[Answer]:
        return [Answer(0, b"anna\n" if b"id -" in one else b"", b"") for one in commands]

    found = mismatches(of("user", "anna", groups=["web"]), read_all)
    assert [one.found for one in found if one.what == "groups"] == ["none"]
