"""What completion finds in a manifest and in the project's file."""

import os
from pathlib import Path

import pytest

from orchestrator.cli.app import main

MANIFEST = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root}
        - /etc/app.conf: {alias: conf, tags: [web, slow]}
        - "/srv/{{ Host.name }}": {tags: [web]}
        - "/a b$(touch pwned)": {}
    - apply:
        - child.yaml: {tags: [child]}
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("push site.yaml --tags ", ["child", "deep", "slow", "web"]),
        ("push site.yaml --tags=web,-s", ["--tags=web,-slow"]),
        ("verify site.yaml --tags -w", ["-web"]),
        ("push --tags w", ["web"]),  # that is its usual name, and it stands last
        ("push --noop other.yaml --tags ", ["else"]),
        ("push -i other.yaml --tags c", ["child"]),
        ("push gone.yaml --tags ", []),
        ("push pipe.yaml --tags ", []),
        ("push large.yaml --tags ", []),
        ("push broken.yaml --tags ", []),
        ("drift site.yaml --only file", ["file", "file#/etc/app.conf", "file#conf"]),
        ("render site.yaml --skip=exec#", ["--skip=exec#deep"]),
        ("push release.yaml --from ", ["databases", "web"]),
        ("push release.yaml --stage=w", ["--stage=web"]),
        ("push site.yaml --stage ", []),
        ("push --rollout c", ["careful"]),
        ("push --gate ver", ["verify"]),
        ("run --rollout q", ["quick"]),
    ],
)
def test_what_a_manifest_and_a_project_name(
    line: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Types, names and tags come from manifests as they are written, children too, names of
    rollouts from the project's file; nothing is run, waited for or complained about."""
    monkeypatch.chdir(tmp_path)
    Path("site.yaml").write_text(MANIFEST)
    Path("child.yaml").write_text(
        "ccm: {resources: [{exec: [deep: {tags: deep}]}, {apply: [site.yaml: {}, no.yaml: {}]}]}"
    )
    Path("other.yaml").write_text("ccm: {resources: [{exec: [x: {tags: [else]}]}]}")
    Path("release.yaml").write_text(
        "stages: [{name: databases}, {name: web}, {hosts: db}, {name: []}]"
    )
    Path("large.yaml").write_text("ccm: {resources: [{exec: [x: {tags: [a]}]}]}\n" + "#" * 300_000)
    Path("broken.yaml").write_text("ccm: {resources: [{exec: [x: {tags: [a")
    os.mkfifo("pipe.yaml")
    Path("ccm.yaml").write_text("rollouts: {careful: {waves: 1}, quick: {waves: 50%}}")
    assert main(["completion", "words", "--", *line.split(" ")]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == found
    assert told.err == ""
    assert not Path("pwned").exists()
