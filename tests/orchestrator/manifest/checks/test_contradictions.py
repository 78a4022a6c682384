from pathlib import Path

from tests.orchestrator.manifest.site import load
from tests.texts import expect_text

ABOUT = "owner: root, group: root"


def told(directory: Path, *resources: str) -> list[str]:
    """The warnings of a manifest with these resources."""
    lines = "".join(f"    - {line}\n" for line in resources)
    site = load(directory, "ccm:\n  resources:\n" + lines)
    return [
        f"{problem.where.line}: {problem.message}" for problem in site.warnings if problem.where
    ]


GONE = "file: [{/srv/app: {ensure: absent, force: true}}]"
MADE = f"file: [{{/srv/app/conf: {{ensure: directory, {ABOUT}, mode: '0755'}}}}]"


def test_what_is_made_below_what_is_removed(tmp_path: Path) -> None:
    """The later use of the path is told with both places, whichever stands first."""
    for resources, line in (((GONE, MADE), 4), ((MADE, GONE), 3)):
        (warning,) = told(tmp_path, *resources)
        assert warning.startswith(f"{line}: file#/srv/app/conf manages /srv/app/conf, and file#")
        assert "file#/srv/app (" in warning
        expect_text(warning)


def test_every_type_that_has_paths(tmp_path: Path) -> None:
    """Archives, scaffolds and commands make sure of paths, too."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("a")
    for made in (
        f"archive: [{{/srv/app/a.tgz: {{url: 'http://h/a.tgz', {ABOUT}}}}}]",
        f"archive: [{{/srv/a.tgz: {{url: 'http://h/a.tgz', extract_parent: /srv, "
        f"creates: /srv/app/x, cleanup: true, {ABOUT}}}}}]",
        "scaffold: [{/srv/app: {source: tree, engine: jet}}]",
        "exec: [{make: {creates: app/x, cwd: /srv}}]",
    ):
        assert len(told(tmp_path, made, GONE)) == 1, made


def test_what_need_not_meet(tmp_path: Path) -> None:
    """Conditions, templates and paths beside it are no contradiction; nor is one's own archive."""
    assert (
        told(
            tmp_path,
            GONE,
            MADE.replace("}}]", ", control: {if: Facts.x == 1}}}]"),
            MADE.replace("/conf", "-2"),
            "exec: [{make: {creates: \"{{ '/srv/app' }}\"}}]",
            f"archive: [{{/srv/a.tgz: {{url: 'http://h/a.tgz', extract_parent: /srv, "
            f"creates: /srv/x, cleanup: true, {ABOUT}}}}}]",
        )
        == []
    )


def test_what_a_type_finds(tmp_path: Path) -> None:
    """A type tells which of its own resources undo each other, with both places."""
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c"
    there = f"authorized_key: [{{anna: {{key: {key}}}}}]"
    gone = f"authorized_key: [{{old: {{user: anna, ensure: absent, key: {key}}}}}]"
    (warning,) = told(tmp_path, there, gone)
    assert warning.startswith("4: authorized_key#old and authorized_key#anna (")
    assert "both manage the key SHA256:" in warning
    assert "on every run they undo each other" in warning
    assert told(tmp_path, there, gone.replace("user: anna", "user: carl")) == []
    assert told(tmp_path, there, gone.replace("}}]", ", control: {if: Facts.x == 1}}}]")) == []


def test_two_names_of_one_unit(tmp_path: Path) -> None:
    """A unit that two services want otherwise is told; what only one of them says is not."""
    for one, other, expected in (
        ("{}", "{ensure: stopped}", True),
        ("{ensure: running}", "{}", False),
        ("{enable: true}", "{enable: false}", True),
        ("{enable: true}", "{}", False),
        ("{ensure: stopped}", "{ensure: stopped, masked: true}", False),
        ("{}", "{ensure: stopped, control: {if: 'false'}}", False),
        ("{}", "{ensure: stopped, user: ann}", False),
    ):
        warnings = told(tmp_path, f"service: [{{app: {one}}}, {{app.service: {other}}}]")
        assert len(warnings) == expected, (one, other)
        if expected:
            expect_text(warnings[0])


def test_units_of_one_name_of_two_users(tmp_path: Path) -> None:
    """They are told apart, whether the name or a property says the user."""
    for one, other, expected in (
        ("ann/app", "bob/app: {ensure: stopped}", 0),
        ("ann/app", "app: {ensure: stopped}", 0),
        ("ann/app", "app: {ensure: stopped, user: bob}", 0),
        ("ann/app", "app: {ensure: stopped, user: ann}", 1),
        ("ann/app", "ann/app.service: {ensure: stopped}", 1),
    ):
        assert len(told(tmp_path, f"service: [{one}: {{}}, {other}]")) == expected, other


def test_a_part_of_a_whole(tmp_path: Path) -> None:
    """An edit of a file whose content another resource sets is told; that of a bare file, or of one
    that is only created, is not.
    """
    edit = "edit: [{/etc/app: {line: x}}]"
    for content, expected in (
        ("content: y,", 1),
        ("content: '{{ Facts.x }}',", 1),
        ("content: y, replace: true,", 1),
        ("content: y, replace: false,", 0),
        ("", 0),
    ):
        whole = f"file: [{{/etc/app: {{{content} {ABOUT}, mode: '0644'}}}}]"
        assert len(told(tmp_path, whole, edit)) == expected, content
    (warning,) = told(
        tmp_path, f"file: [{{/etc/app: {{content: y, {ABOUT}, mode: '0644'}}}}]", edit
    )
    assert warning.startswith("4: edit#/etc/app changes part of /etc/app, and file#/etc/app (")
    expect_text(warning)
