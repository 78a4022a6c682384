"""The entry point: which command, which error, which exit code."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator.cli.app import COMMANDS, exit_code_of, main
from orchestrator.cli.command_lookup import build_parser, load_command, overview
from orchestrator.cli.exit_code import run_exit_code
from orchestrator.cli.parser import Parser
from orchestrator.fleet.outcome import HostResult, Tally
from remote_runtime.errors import (
    CcmError,
    InputError,
    PlanError,
    Position,
    Problem,
    UnreachableError,
    UsageError,
)
from tests import caches
from tests.texts import expect_text

ROOT = Path(__file__).resolve().parents[3]


def ccm(*words: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "orchestrator.cli.app", *words]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_version_is_told_at_once() -> None:
    """``ccm --version`` imports next to nothing."""
    assert ccm("--version").stdout.startswith("ccm ")
    argv = [sys.executable, "-X", "importtime", "-m", "orchestrator.cli.app", "--version"]
    report = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stderr
    for heavy in ("argparse", "json", "yaml", "rich", "paramiko", "jinja2"):
        assert f" {heavy}\n" not in report


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_a_stream_that_is_closed_is_as_one_to_nothing(
    closed: tuple[int, ...], tmp_path: Path
) -> None:
    """A push runs as ever, with workers too, and no file of it gets the number of the stream."""
    site, hosts = tmp_path / "site.yaml", tmp_path / "hosts.json"
    site.write_text('ccm: {resources: [exec: [done: {command: "true", creates: /}]]}')
    hosts.write_text('{"defaults": {"connection": "local"}, "hosts": {"h1": {}, "h2": {}}}')
    words = ["push", "--engine", "processes:2", "--noop", "-i", str(hosts), str(site)]
    start = "import os, sys\nfor each in map(int, sys.argv[1].split(',')): os.close(each)\n"
    argv = [sys.executable, "-m", "orchestrator.cli.app", *words]
    start += f"os.execv({argv[0]!r}, {argv!r})"
    cache = str(caches.fill(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-c", start, ",".join(map(str, closed))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": cache},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert ("Hosts" in done.stdout) == (1 not in closed)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--help`` of each command says what it does and shows a way to call it."""
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: ccm {name}" in text
    assert f"examples:\n  ccm {name}" in text


def every_parser() -> Iterator[Parser]:
    """The parser of every command, of its actions and of the commands below it."""
    for name in COMMANDS:
        command = load_command(name)
        parsers = [build_parser(name, command)]
        if parsers[0].subcommands:
            parsers += parsers[0].subcommands.parsers.values()
        elif hasattr(command, "below"):
            for action in parsers[0].arguments[1:2]:
                found = (command.below([str(word)]) for word in action.choices or ())
                parsers += [build_parser(*one) for one in found if one]
        yield from parsers


def test_every_action_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` of each action and of each command below another, as a user asks for it."""
    calls = [parser.prog.split()[1:] for parser in every_parser()]
    assert ["hiera", "explain"] in calls
    for words in calls:
        with pytest.raises(SystemExit) as ended:
            main([*words, "--help"])
        assert ended.value.code == 0
        text = capsys.readouterr().out
        assert f"usage: ccm {' '.join(words)} " in text
        assert "==SUPPRESS==" not in text


def test_help_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line of a help is wider than the 80 columns of a terminal, but for a public key."""
    monkeypatch.setenv("COLUMNS", "80")
    texts = [overview(COMMANDS), *(parser.format_help() for parser in every_parser())]
    assert len(texts) > 30
    wide = [line for text in texts for line in text.splitlines() if len(line) > 80]
    assert [line for line in wide if "ssh-ed25519 " not in line] == []


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm --help`` shows each command with a sentence; without a word it is a usage error."""
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert main([]) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["psuh"], "did you mean 'ccm push'?"),
        (["events"], "'ccm --help' lists the commands"),
        (["--verison"], "unknown option"),
        (["push", "--frks", "3", "-i", "x", "y"], "did you mean --forks?"),
        (["push", "-i", "x"], "MANIFEST"),
        (["push", "-i", "x", "--forks", "many", "y"], "--forks: 'many' is not a positive integer"),
        (["push", "-i", "x", "--forks", "0", "y"], "--forks: '0' is not a positive integer"),
        (["push", "-i", "x", "--forks", "99999999", "y"], "open files"),
        (["push", "-i", "x", "--timeout", "soon", "y"], "not a duration"),
        (["push", "-i", "x", "--become", "site.yaml"], "put the manifest before the option"),
        (["push", "-i", "x", "--user", "-oA=b", "y"], "--user"),
        (["push", "-i", "x", "--user", "a b", "y"], "'a b' is not a user name"),
        (["push", "-i", "x", "--json", "--events", "-", "y"], "cannot both write to stdout"),
        (["push", "-i", "/no/such/hosts.yaml", "y"], "/no/such/hosts.yaml"),
        (["push", "-q", "-v", "-i", "x", "y"], "mutually exclusive"),
        (["completion", "tcsh"], "tcsh"),
        (["report", "no-such-run"], "no run"),
    ],
)
def test_a_wrong_command_line_is_told_and_exits_2(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mistakes in the command line say what was expected and what to do, with exit code 2."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("ccm: error: ")
    assert told in error


def test_errors_have_the_documented_exit_codes() -> None:
    """Each branch of the error tree ends a command with its code."""
    assert exit_code_of(UsageError("x")) == 2
    assert exit_code_of(InputError([Problem("x")])) == 2
    assert exit_code_of(UnreachableError("x")) == 3
    assert exit_code_of(PlanError("x")) == 1
    assert exit_code_of(CcmError("x", kind="defect")) == 70


@pytest.mark.parametrize(
    ("outcomes", "interrupted", "detailed", "code"),
    [
        ("ok", False, False, 0),
        ("ok", False, True, 0),
        ("ok changed", False, False, 0),
        ("ok changed", False, True, 4),
        ("changed failed", False, True, 1),
        ("failed unreachable ok", False, False, 3),
        ("failed unreachable defect", False, False, 70),
        ("failed unreachable defect interrupted", True, True, 130),
        ("ok", True, False, 130),
    ],
)
def test_the_exit_code_of_a_run(
    outcomes: str, interrupted: bool, detailed: bool, code: int
) -> None:
    """Interrupted beats a defect, that beats unreachable, that beats failed, that beats changed."""
    results = []
    for word in outcomes.split():
        result = HostResult("h", Tally(), "ok" if word == "changed" else word)
        result.tally.changed = int(word == "changed")
        results.append(result)
    assert run_exit_code(results, interrupted, detailed) == code


@pytest.mark.parametrize(
    "words", [["validate"], ["apply"], ["push", "-i", "h.yaml"], ["plan", "-i", "h.yaml"]]
)
def test_a_manifest_from_a_pipe(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with what to do: a second look at it would find nothing."""
    end, begin = os.pipe()
    try:
        os.write(begin, b"ccm: {resources: []}")
        os.close(begin)
        assert main([*words, f"/dev/fd/{end}"]) == 2
    finally:
        os.close(end)
    error = capsys.readouterr().err
    assert f"/dev/fd/{end} is not a regular file" in error
    expect_text(error)


def test_several_mistakes_are_told_in_one_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All problems of an input are shown with their places, control characters as escapes."""
    places = [Position("site.yaml", 3, 5), Position("site.yaml", 9, 1)]

    def run(args: object) -> int:
        raise InputError([Problem("bad\x1b[2J", places[0], "fix"), Problem("worse", places[1])])

    monkeypatch.setattr(load_command("runs"), "run", run)
    assert main(["runs"]) == 2
    error = capsys.readouterr().err
    assert "2 errors" in error
    assert r"site.yaml:3:5: bad\x1b[2J (fix)" in error
    assert "site.yaml:9:1: worse" in error


def test_of_very_many_mistakes_the_first_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody mends thousands at once, and what they have in common shows in some."""

    def run(args: object) -> int:
        raise InputError([Problem(f"wrong {number}") for number in range(3_000)])

    monkeypatch.setattr(load_command("runs"), "run", run)
    assert main(["runs"]) == 2
    first, *lines, last = capsys.readouterr().err.splitlines()
    expect_text(first)
    assert lines == [f"  wrong {number}" for number in range(100)]
    assert last == "  … 2,900 more"


def test_a_defect_exits_70_with_a_masked_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A bug in ccm names a report, private, in which no credentials stand."""

    def run(args: object) -> int:
        raise RuntimeError("at https://alice:hunter22@example.org/")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(load_command("runs"), "run", run)
    assert main(["runs"]) == 70
    path = Path(capsys.readouterr().err.split("report this error with ")[1].strip())
    assert path.stat().st_mode & 0o077 == 0
    text = path.read_text(encoding="utf-8")
    assert "RuntimeError" in text
    assert "hunter22" not in text


@pytest.mark.parametrize("words", ["completion bash", "--help", "schema"])
def test_a_disk_that_is_full_is_no_defect(words: str) -> None:
    """Output that cannot be written is told in one line, with exit code 1."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "orchestrator.cli.app", *words.split()],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == ("ccm: error: cannot write output: No space left on device\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    """``ccm completion bash | head -1`` ends quietly."""
    command = f"{sys.executable} -m orchestrator.cli.app completion bash | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("# ccm completion")
    assert done.stderr == ""


def test_every_file_of_a_command_is_listed() -> None:
    """A module with EXAMPLE in the directory of commands is a command, and the other way round.

    One that stands below a command, such as ``ensure_api``, has that command's name in front.
    """
    directory = ROOT / "orchestrator" / "cli"
    found = {
        p.stem for p in directory.glob("*.py") if "\nEXAMPLE = " in p.read_text(encoding="utf-8")
    }
    below = {name for name in found if name.partition("_")[0] in COMMANDS and "_" in name}
    modules = {load_command(name).__name__.rpartition(".")[2] for name in COMMANDS}
    assert found - below == modules - below
    assert modules <= found


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("--check", "--noop"),
        ("--dry-run", "--noop"),
        ("--skip-tags=x", "--tags=-NAME"),
        ("--diff", "--no-diff"),
        ("-e", "--data"),
    ],
)
def test_options_of_ansible(option: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An option that ansible-playbook has is answered with ccm's own word."""
    assert main(["push", "-i", "h1,", "site.yaml", option]) == 2
    assert word in capsys.readouterr().err.splitlines()[1]


def test_a_mistake_in_an_action_names_it(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that an action does not have is told with the action, not with its command."""
    assert main(["hosts", "trust", "-i", "h1,", "--known-hosts", "x"]) == 2
    told = capsys.readouterr().err
    assert "hosts trust: unknown option --known-hosts" in told
    assert "'ccm hosts trust --help'" in told


def test_a_manifest_of_the_web(capsys: pytest.CaptureFixture[str]) -> None:
    """An address with a login is refused with what to do, its password masked."""
    assert main(["apply", "https://me:s3cret@h.example/site.yaml"]) == 2
    told = capsys.readouterr().err
    expect_text(told)
    assert "s3cret" not in told


@pytest.mark.parametrize("words", [["run", "--", "touch"], ["fetch", "-d", "out"]])
def test_run_and_fetch_need_the_hosts_named(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without -l nothing runs and -l all is offered; with it every host takes part."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "hosts.yaml").write_text("hosts: {a: {connection: local}}\n")
    (tmp_path / "source").write_text("")
    name, *rest = words
    target = str(tmp_path / ("made" if name == "run" else "source"))
    made = tmp_path / ("made" if name == "run" else f"out/a{target}")
    assert main([name, "-i", "hosts.yaml", *rest, target]) == 2
    refused = capsys.readouterr().err
    assert f"{name}: -l/--limit is required" in refused
    assert "-l all" in refused
    assert not made.exists()
    assert main([name, "-i", "hosts.yaml", "-l", "all", *rest, target]) == 0
    assert made.exists()
