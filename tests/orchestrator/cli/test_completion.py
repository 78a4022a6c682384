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
zpty -n -w z $'LINE\\t\\t'
zpty -r z seen '*SEEN*'
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
    asked = ("ccm pu", "ccm push --no", "ccm hosts ", "ccm ensure ", "ccm ensure file /x --ow")
    program = f"source {script}; " + "; ".join(f"complete -C '{line}'" for line in asked)
    done = subprocess.run(
        ["fish", "--no-config", "-c", program], capture_output=True, text=True, check=True
    )
    offered = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert {"push", "--noop", "--no-diff", "trust", "archive", "--owner"} <= offered
    assert "--creates" not in offered  # of another type


@pytest.mark.parametrize(
    ("line", "seen"),
    [("ccm push --no", "change nothing"), ("ccm ensure file /x --fo", "remove a directory")],
)
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_completes_options(script: Path, line: str, seen: str) -> None:
    """zsh, in a terminal, offers the options of a command, and of a type of ``ccm ensure``."""
    program = ZSH.replace("SCRIPT", str(script)).replace("LINE", line).replace("SEEN", seen)
    done = subprocess.run(
        ["zsh", "-f", "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert seen in done.stdout


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ensure", ""], {"archive", "exec", "file"}),
        (["ensure", "file", "/x", "--ow"], {"--owner"}),
        (["session", "r"], {"report"}),
    ],
)
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_types_and_their_properties(
    script: Path, words: list[str], offered: set[str]
) -> None:
    """bash offers the types of ``ccm ensure``, the properties of one, and subcommands."""
    line = " ".join(f"'{word}'" for word in ("ccm", *words))
    program = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _ccm"
    program += '; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert offered <= set(done.stdout.split())
    assert len(words) < 3 or offered == set(done.stdout.split())
