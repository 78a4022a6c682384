"""What stands beside ensure: absent, and what defaults give to a directory."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.manifest.loader import load_site
from remote_runtime.errors import InputError
from tests.orchestrator.planning.planned import entries, plan, refused, refused_host
from tests.texts import expect_text

OWNED = "owner: root, group: root, mode: '0644'"


def properties(directory: Path, resources: str, **options: Any) -> list[dict[str, Any]]:
    """The properties of each resource in the plan."""
    made = plan(directory, f"ccm:\n  resources:\n{resources}", **options)
    return [entry["properties"] for entry in entries(made)]


@pytest.mark.parametrize(
    "beside",
    [
        "content: '{{ Data.nothing }}'",
        "source: not/there",
        "content: x, source: y",
        "mode: rwx, owner: ''",
        "validate: 'no braces'",
    ],
)
def test_what_describes_a_present_file_is_ignored(tmp_path: Path, beside: str) -> None:
    """Beside ensure: absent it is not rendered, checked or shipped."""
    text = f"    - file: [{{/etc/x: {{ensure: absent, force: true, {beside}}}}}]\n"
    assert properties(tmp_path, text) == [{"ensure": "absent", "force": True}]
    text = text.replace("absent,", "\"{{ 'absent' }}\",")
    if "rwx" not in beside and "source" not in beside:
        assert properties(tmp_path, text) == [{"ensure": "absent", "force": True}]


def test_names_of_ignored_properties_are_checked(tmp_path: Path) -> None:
    """A misspelt property is refused beside ensure: absent, too."""
    site = tmp_path / "site.yaml"
    site.write_text("ccm: {resources: [{file: [{/x: {ensure: absent, contnt: x}}]}]}")
    with pytest.raises(InputError) as refused:
        load_site(site)
    expect_text(refused.value)


def test_an_archive_needs_nothing_to_be_absent(tmp_path: Path) -> None:
    """Its credentials do not travel either."""
    text = "    - archive: [{/a.zip: {ensure: absent, url: 'ftp://x', password: hunter2}}]\n"
    assert properties(tmp_path, text) == [{"ensure": "absent"}]


def test_a_scaffold_keeps_what_says_which_files_are_its_own(tmp_path: Path) -> None:
    """Source, engine, delimiters and data stay, with them the files; the rest is dropped."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "conf").write_text("<< Data.a >>")
    text = """    - scaffold:
        - /srv/app:
            ensure: absent
            source: app
            engine: jet
            left_delimiter: "<<"
            right_delimiter: ">>"
            data: {a: 1}
            purge: true
            post: [{"*": ""}]
"""
    (found,) = properties(tmp_path, text)
    kept = {"ensure", "source", "engine", "left_delimiter", "right_delimiter", "data"}
    assert set(found) == kept
    assert [file["path"] for file in found["source"]["files"]] == ["conf"]


@pytest.mark.parametrize("ensure", ["directory", "\"{{ 'directory' }}\""])
def test_defaults_may_hold_content_beside_a_directory(tmp_path: Path, ensure: str) -> None:
    """Only what defaults gave is dropped there; what the entry says itself is a mistake."""
    text = f"""    - file:
        - defaults: {{{OWNED}, content: x}}
        - /etc/d: {{ensure: {ensure}}}
        - /etc/gone: {{ensure: absent}}
        - /etc/f:
"""
    directory, gone, file = properties(tmp_path, text)
    assert sorted(directory) == ["ensure", "group", "mode", "owner"]
    assert gone == {"ensure": "absent"}
    assert file["content"]["size"] == 1
    own = f"    - file: [{{/d: {{ensure: {ensure}, {OWNED}, content: x}}}}]\n"
    refusing = refused if ensure == "directory" else refused_host
    expect_text(str(refusing(tmp_path, f"ccm:\n  resources:\n{own}")))
