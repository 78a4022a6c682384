"""The completion scripts, in the shells themselves."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.orchestrator.cli.test_completion_words import INVENTORY

# A shell's own ccm: what a host or a run may be called, were it as hostile as can be.
HOSTILE = """ccm() { printf '%s\\n' '$(touch pwned)' '`touch pwned`' '; touch pwned'; }"""
ZSH = """\
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z '
CCM
PROMPT=; autoload -Uz compinit; compinit -D -u; source SCRIPT; print -r READY-$((6*7))'
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


def in_zsh(script: Path, line: str, seen: str, ccm: str = "", times: int = 2) -> str:
    """What a terminal with zsh shows up to ``seen``, the line and some tabs typed into it."""
    program = ZSH.replace("SCRIPT", str(script)).replace("LINE\\t\\t", line + "\\t" * times)
    program = program.replace("SEEN", seen).replace("CCM", ccm.replace("'", "'\\''"))
    done = subprocess.run(
        ["zsh", "-f", "-c", program], cwd=script.parent, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    return done.stdout


def own_ccm(directory: Path) -> str:
    """The definition of ``ccm`` in a shell, with an inventory beside it."""
    (directory / "hosts.yaml").write_text(INVENTORY, encoding="utf-8")
    root = Path(__file__).resolve().parents[3]
    return f'ccm() {{ PYTHONPATH={root} {sys.executable} -m orchestrator.cli.app "$@"; }}'


def in_bash(script: Path, line: str, ccm: str) -> list[str]:
    """What bash offers for a line."""
    program = f"""{ccm}
source {script}; COMP_LINE="$1"; COMP_POINT=${{#1}}; _ccm; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(
        ["bash", "-c", program, "bash", line], cwd=script.parent, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


def in_fish(script: Path, line: str, ccm: str) -> list[str]:
    """What fish offers for a line."""
    name, _, body = ccm.partition("() {")
    body = body.replace('"$@"', "$argv").rstrip("}").replace("PYTHONPATH=", "env PYTHONPATH=")
    program = f"function {name}; {body}; end; source {script}; complete -C {shlex.quote(line)}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program], cwd=script.parent, capture_output=True, text=True,
        timeout=60, check=True,
    )  # fmt: skip
    return [offered.split("\t")[0] for offered in done.stdout.splitlines()]


ASK = {"bash": in_bash, "fish": in_fish}


@pytest.mark.parametrize("script", ["bash", "fish"], indirect=True)
def test_what_ccm_says_is_offered(script: Path) -> None:
    """Commands, options, hosts of the inventory that the line names, and files."""
    ask = ASK[script.suffix[1:]]
    ccm = own_ccm(script.parent)
    assert ask(script, "ccm pu", ccm) == ["push"]
    assert set(ask(script, "ccm push --no-", ccm)) == {"--no-diff", "--no-package-probe"}
    assert set(ask(script, "ccm push -i hosts.yaml -l w", ccm)) == {"web", "web1", "web2"}
    assert ask(script, "ccm facts -i hosts.yaml --limit d", ccm) == ["db1"]
    assert ask(script, "ccm push -i hos", ccm) == ["hosts.yaml"]
    (script.parent / "two words.yaml").touch()
    assert ask(script, "ccm validate tw", ccm)[0].replace("\\", "") == "two words.yaml"


@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_completes_what_stands_behind_an_equals_sign(script: Path) -> None:
    """readline ends words at = and :, so only what stands behind them is offered."""
    ccm = own_ccm(script.parent)
    assert in_bash(script, "ccm push -i hosts.yaml --limit=web:d", ccm) == ["db1"]
    assert in_bash(script, "ccm push --inventory=hos", ccm) == ["hosts.yaml"]


@pytest.mark.parametrize("script", ["fish"], indirect=True)
def test_fish_completes_what_stands_behind_an_equals_sign(script: Path) -> None:
    """fish gets the whole word."""
    ccm = own_ccm(script.parent)
    offered = in_fish(script, "ccm push -i hosts.yaml --limit=d", ccm)
    assert offered == ["--limit=db1"]
    assert in_fish(script, "ccm push --inventory=hos", ccm) == ["--inventory=hosts.yaml"]


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("ccm push -i hosts.yaml -l web", "web2"),
        ("ccm push -i hosts.yaml --limit=web", "web2"),
        ("ccm push --no", "change nothing"),
        ("ccm ensure file /x --fo", "remove a directory"),
        ("ccm push --l", "web:&prod:!web3"),
        ("ccm push -i ho", "hosts.yaml"),
        ("ccm push --inventory=ho", "hosts.yaml"),
    ],
)
@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_offers_it_with_its_meaning(script: Path, line: str, seen: str) -> None:
    """In zsh, too, which shows what options mean."""
    assert seen in in_zsh(script, line, seen, own_ccm(script.parent))


@pytest.mark.parametrize("script", ["bash", "fish"], indirect=True)
def test_what_is_offered_is_text(script: Path) -> None:
    """No shell evaluates a name that it offers."""
    offered = ASK[script.suffix[1:]](script, "ccm push -l ", HOSTILE)
    assert "$(touch pwned)" in offered
    assert not (script.parent / "pwned").exists()


@pytest.mark.parametrize("script", ["zsh"], indirect=True)
def test_zsh_offers_text(script: Path) -> None:
    """Nor does zsh, which writes the names quoted when it goes through them."""
    assert "pwned" in in_zsh(script, "ccm push -l ", "pwned", HOSTILE, times=3)
    assert not (script.parent / "pwned").exists()
