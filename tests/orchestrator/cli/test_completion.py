"""The completion scripts, in the shells themselves."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli.app import main

ZSH = """\
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; autoload -Uz compinit; compinit -D -u; source SCRIPT; print -r READY-$((6*7))'
zpty -r z line '*READY-42*'
zpty -n -w z $'ccm push --no\\t\\t'
zpty -r z seen '*change nothing*'
print -r -- $seen
"""


@pytest.fixture
def script(
    request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Path:
    """The completion for the shell that the test names."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"this machine has no {shell}")
    assert main(["completion", shell]) == 0
    path = tmp_path / f"ccm.{shell}"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_commands_options_and_words(script: Path) -> None:
    """fish offers commands, the options of a command and the words it takes."""
    asked = ("ccm pu", "ccm push --no", "ccm hosts ")
    program = f"source {script}; " + "; ".join(f"complete -C '{line}'" for line in asked)
    done = subprocess.run(
        ["fish", "--no-config", "-c", program], capture_output=True, text=True, check=True
    )
    offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert {"push", "--noop", "--no-diff", "trust"} <= offered


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_completes_options(script: Path) -> None:
    """zsh, in a terminal, offers the options of a command."""
    program = ZSH.replace("SCRIPT", str(script))
    done = subprocess.run(
        ["zsh", "-f", "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert "change nothing" in done.stdout
