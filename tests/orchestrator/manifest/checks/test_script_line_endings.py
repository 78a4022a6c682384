"""Scripts whose first line ends as on Windows."""

from pathlib import Path

import pytest

from tests.orchestrator.manifest.site import load

SCRIPT = b"#!/bin/sh\r\necho\r\n"
FILE = "    - file: [{/s: {owner: root, group: root, mode: '755', %s}}]"


def warned(directory: Path, resource: str) -> list[str]:
    site = load(directory, f"ccm:\n  resources:\n{resource}\n")
    return [str(one) for one in site.warnings if one.kind == "input.line_ends"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "tree/sub").mkdir(parents=True)
    for name in ("a.sh", "tree/sub/a.sh"):
        (tmp_path / name).write_bytes(SCRIPT)
    (tmp_path / "tree/good").write_bytes(b"#!/bin/sh\necho\r\n")
    (tmp_path / "bom.sh").write_bytes(b"\xef\xbb\xbf" + SCRIPT)


@pytest.mark.parametrize(
    ("resource", "named"),
    [
        (FILE % "source: a.sh", "a.sh"),
        (FILE % "source: bom.sh", "bom.sh"),
        (FILE % r'content: "#!/bin/sh\r\nx"', "content"),
        (FILE % "content: \"{{ file('a.sh') }}\"", "a.sh"),
        ("    - scaffold: [{/t: {source: tree, engine: jinja}}]", "tree/sub/a.sh"),
        ("    - exec: [{x: {command: \"{{ file('a.sh') }}\", provider: shell}}]", "a.sh"),
    ],
)
def test_it_is_a_warning_with_its_place(tmp_path: Path, resource: str, named: str) -> None:
    """The file or the property is named, with what to do."""
    (found,) = warned(tmp_path, resource)
    assert f": {named} begins with '#!/bin/sh\\r'" in found
    assert "site.yaml:3:" in found
    assert "dos2unix" in found


@pytest.mark.parametrize(
    "resource",
    [
        FILE % r'content: "#!/bin/sh\nx\r\n"',
        FILE % r'content: "text\r\n"',
        FILE % r'content: "#!/bin/sh\r\nx", sensitive: true',
        FILE % "source: tree/good",
        FILE % "source: missing.sh, control: {if: 'false'}",
        FILE % "source: /usr/local/bin/on-the-host",
        FILE % "content: \"{{ file('missing.sh') }}\"",
    ],
)
def test_anything_else_is_not(tmp_path: Path, resource: str) -> None:
    """Later lines, texts that are no script, what is masked, and files that are not here."""
    assert warned(tmp_path, resource) == []
