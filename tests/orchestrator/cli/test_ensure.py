"""The flags of ``ccm ensure`` come from the schemas, and mistakes are told of flags."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.command_lookup import build_parser, find_command
from orchestrator.cli.example_commands import command_line
from orchestrator.cli.property_flags import flags_of
from orchestrator.manifest.resource_types import Type, load_type, type_names
from orchestrator.project.settings import DEFAULT_KEEP
from remote_runtime.errors import CcmError, InputError
from tests import caches
from tests.orchestrator.cli.starts import hosts, imported, site
from tests.texts import expect_text

OWNED = ["--owner", "root", "--group", "root", "--mode", "0644"]


def declared(*words: str) -> dict[str, Any]:
    """The properties that a command line stands for, as a manifest would have them."""
    name, command, rest = find_command(["ensure", *words])
    args = build_parser(name, command).parse(rest)
    resource = command.site(args, None).resources[0]
    assert resource.id == f"{words[0]}#{args.name}"
    raw: dict[str, Any] = resource.raw
    return raw


@pytest.mark.parametrize(
    ("words", "properties"),
    [
        (["package", "nginx", "latest"], {"ensure": "latest"}),
        (["package", "nginx", "1.10"], {"ensure": "1.10"}),
        (["service", "x", "running", "--enable"], {"ensure": "running", "enable": True}),
        (["service", "x", "--no-enable"], {"enable": False}),
        (["service", "x", "--disable"], {"enable": False}),
        (["service", "x", "-e"], {"enable": True}),
        (["exec", "x", "--exec-if", "a"], {"onlyif": "a"}),
        (["scaffold", "/srv/x", "tree"], {"source": "tree"}),
        (["scaffold", "/srv/x", "tree", "present"], {"source": "tree", "ensure": "present"}),
        (["scaffold", "/srv/x", "absent", "--source", "t"], {"source": "t", "ensure": "absent"}),
        (["exec", "x", "--returns", "0", "--returns", "3"], {"returns": [0, 3]}),
        (["exec", "x", "--returns", "[0, 3]"], {"returns": [0, 3]}),
        (["exec", "x", "--environment", "A=1"], {"environment": ["A=1"]}),
        (["exec", "x", "--umask", "077"], {"umask": "077"}),
        (["exec", "x", "--refreshonly"], {"refresh_only": True}),
        (["exec", "x", "--onlyif", "test -e /x"], {"onlyif": "test -e /x"}),
        (["exec", "x", "--onlyif", "{command: a, user: b}"],
         {"onlyif": {"command": "a", "user": "b"}}),
        (["exec", "x", "--exec-unless", "a", "--unless", "false"],
         {"unless": "a", "control": {"unless": "false"}}),
        (["exec", "x", "--user", "web", "--timeout", "5s", "--run-timeout", "9"],
         {"user": "web", "timeout": "5s"}),
        (["exec", "x", "--if", "Facts.a == 1"], {"control": {"if": "Facts.a == 1"}}),
        (["exec", "x", "--if-exists", "/a", "--if-absent", "/b", "--if-command", "test -e c"],
         {"control": {"exists": "/a", "absent": "/b", "command": "test -e c"}}),
        (["exec", "x", "--check", "a b", "--check", "{command: c, tries: 2}"],
         {"health_checks": [{"command": "a b"}, {"command": "c", "tries": 2}]}),
        (["exec", "x", "--check", "a b", "--check-tries", "5", "--check-sleep", "2s"],
         {"health_checks": [{"command": "a b", "tries": 5, "try_sleep": "2s"}]}),
        (["exec", "x", "--no-render", "--command", "{{ x }}"],
         {"render": False, "command": "{{ x }}"}),
        (["exec", "x", "--provider", "shell"], {"provider": "shell"}),
        (["exec", "--no-sensitive", "x", "present"], {"ensure": "present", "sensitive": False}),
        (["archive", "/a.tgz", "--url", "https://h/a.tgz", "--owner", "o", "--group", "g",
          "--headers", "X-A=1", "--headers", "X-B=c:d", "-H", "X-C: d=e"],
         {"url": "https://h/a.tgz", "owner": "o", "group": "g",
          "headers": {"X-A": "1", "X-B": "c:d", "X-C": "d=e"}}),
        (["scaffold", "/x", "--source", "t", "--post", "*.sh=sh -n {}", "--post", "{'*': 'a=b'}"],
         {"source": "t", "post": [{"*.sh": "sh -n {}"}, {"*": "a=b"}]}),
    ],
)  # fmt: skip
def test_flags_are_properties(words: list[str], properties: dict[str, Any]) -> None:
    """Every kind of property can be given: texts, booleans, lists, maps and what holds YAML."""
    assert declared(*words) == properties


def test_a_text_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A text may be in a file; not both ways at once, and what is no text is refused."""
    (tmp_path / "motd").write_bytes(b"a\r\nb\n")
    (tmp_path / "image").write_bytes(b"\xff\xfe")
    motd = ["--content-file", str(tmp_path / "motd")]
    assert declared("file", "/x", *motd, *OWNED)["content"] == "a\r\nb\n"
    for mistake, told in (
        ([*motd, "--content", "x"], "not allowed with"),
        (["--content-file", str(tmp_path / "image")], "is not UTF-8 text"),
        (["--content-file", str(tmp_path / "nothing")], "No such file"),
    ):
        assert main(["ensure", "file", "/x", *OWNED, *mistake]) == 2
        assert told in capsys.readouterr().err


def test_a_secret_in_a_mistaken_flag_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A header that is no KEY=VALUE, and a password that cannot be one, are refused unseen."""
    archive = ["ensure", "archive", "/x.zip", "--url", "http://h/x.zip", "--owner", "root"]
    for flags in (["--headers", "X-Token s3cr3t-t0ken"], ["--headers", "s3cr3t-t0ken"]):
        assert main([*archive, "--group", "root", *flags]) == 2
        error = capsys.readouterr().err
        expect_text(error)
        assert "s3cr3t" not in error


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["file", "/x", *OWNED[:-1], "9"], "argument --mode: mode '9' is not allowed"),
        (["archive", "/x.tar", *OWNED[:-2]], "--url is required"),
        (["mount", "/x"], "error: mount#/x: required property 'device' is missing"),
        (["authorized_key", "x"], "error: authorized_key#x: required property 'key' or 'source'"),
        (["exec", "x", "--exec-unless", "{}"], "unless: required property 'command' is missing"),
        (["file", "x", *OWNED], "error: file#x: name 'x' is not allowed"),
        (
            ["file", "/x", "presnt", *OWNED],
            "argument ENSURE: ensure must be one of present",
        ),
        (["file", "/x", "--ower", "root"], "unknown option --ower\n     did you mean --owner?"),
        (
            ["package", "x", "--ensure", "latest"],
            "unknown option --ensure\n     write ccm ensure package NAME [ENSURE]",
        ),
        (["file", "/x", *OWNED, "--content", "{{ 1 + }}"], "argument --content: "),
        (["file", "/x", *OWNED, "--content", "{{.Names}}"], "--no-render"),
        (
            ["file", "/x", *OWNED, "--content", "-x"],
            "write a value that starts with - as --content=VALUE",
        ),
        (["exec", "x", "--returns", "no"], "argument --returns: returns[0] must be a whole number"),
        (
            ["exec", "x", "--onlyif", "{comand: a}"],
            "onlyif: unknown key 'comand' (did you mean command?)",
        ),
        (
            ["cron", "x", "--schedule", "* *", "--command", "y"],
            "argument --schedule: expected 5 fields",
        ),
        (["exec", "x", "--if", "1 +"], "argument --if: "),
        (["exec", "x", "--if-exists", "a"], "argument --if-exists: control.exists must be"),
        (["exec", "x", "--unless", "test -e x"], "for the property, use --exec-unless"),
        (["exec", "x", "--require", "exec#y"], 'start a session with: eval "$(ccm session new)"'),
        (["fil", "/x"], "did you mean 'ccm ensure file'?"),
        (["exec", "x", "-l", "web"], "--limit requires an inventory"),
        ([], "the type is missing"),
        (["--noop", "file", "/x"], "the type must come before --noop"),
    ],
)
def test_mistakes_are_told_of_flags(
    words: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake names the flag and what to do, exits 2, and speaks of no manifest."""
    monkeypatch.delenv("CCM_SESSION_STORE", raising=False)
    assert main(["ensure", *words]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "line" not in error.replace("command line", "")


@pytest.mark.parametrize("name", type_names())
def test_every_property_has_a_flag_of_its_own(name: str) -> None:
    """No property of a type is without a flag, and no flag stands for two things."""
    type_ = _type(name)
    label, command, _ = find_command(["ensure", name])
    actions = build_parser(label, command).arguments
    spelt = [option for action in actions for option in action.option_strings]
    assert len(spelt) == len(set(spelt))
    flags = {flag.name for flag in flags_of(type_)}
    apart = {"ensure", "control", "require", "subscribe", "health_checks", "render", "foreach"}
    apart |= {"tags"}  # one resource needs no selection
    assert flags | apart | set(type_.spellings) >= set(type_.properties)
    for option in ("--noop", "--data", "--fact", "--hiera", "--if", "--unless", "--check"):
        assert option in spelt


@pytest.mark.parametrize("name", type_names())
def test_help_has_the_properties_and_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """``ccm ensure TYPE --help`` describes the type's properties and shows a command line."""
    with pytest.raises(SystemExit) as ended:
        main(["ensure", name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"properties of {name}:" in text
    assert f"examples:\n  ccm ensure {name} " in text


def test_a_resource_is_spelt_as_it_is_read() -> None:
    """The command line that is made of a resource stands for that resource."""
    import shlex

    properties: dict[str, Any] = {
        "ensure": "present",
        "command": "echo 'a b' | cat",
        "environment": ["A=1", "B=it's"],
        "returns": [0, 2],
        "onlyif": {"command": "true", "returns": [0, 1]},
        "unless": "false",
        "refresh_only": False,
        "control": {"if": "Facts.a == 'b'"},
        "health_checks": [{"command": "x"}, {"command": "y", "tries": 3}],
        "umask": "-0",
    }

    def words_of() -> list[str]:
        return shlex.split(command_line(_type("exec"), "a name", properties).replace("\\\n", ""))

    words = words_of()
    assert words[:2] == ["ccm", "ensure"]
    name, command, rest = find_command(words[1:])
    args = build_parser(name, command).parse(rest)
    with pytest.raises(InputError, match="umask"):
        command.site(args, None)
    del properties["umask"]
    assert declared(*words_of()[2:]) == properties


def test_types_beside_have_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A type of ``types/`` in the working directory is a command like the others."""
    import shutil

    source = Path(__file__).resolve().parents[3] / "examples"
    found = [path.parent for path in source.rglob("types/*/schema.json")]
    assert found
    shutil.copytree(found[0].parent, tmp_path / "types")
    monkeypatch.chdir(tmp_path)
    name, command, _ = find_command(["ensure", found[0].name])
    assert name == f"ensure {found[0].name}"
    assert "properties of" in build_parser(name, command).format_help()


HEAVY = {
    "ast", "asyncio", "bz2", "calendar", "concurrent.futures", "dataclasses", "difflib", "email",
    "fabric", "gjson", "hashlib", "hmac", "http", "inspect", "invoke", "jinja2", "jsonschema",
    "lzma", "multiprocessing", "nats", "paramiko", "pkgutil", "random", "rich", "secrets", "shutil",
    "socket", "ssl", "textwrap", "xml", "zipfile", "orchestrator.transport.route",
    "orchestrator.transport.client_config.ssh_config",
}  # fmt: skip


# What a push loads with the option, the file or the outcome that asks for it.
OPTIONAL = {
    "inventory.dynamic", "inventory.explanation", "inventory.json_nodes", "inventory.selection",
    "orchestrator.cli.grouped_output", "orchestrator.cli.verify_output",
    "orchestrator.transport.client_config.user_command", "orchestrator.transport.password",
    "orchestrator.support.file_trust",
    "orchestrator.runs.gates", "orchestrator.runs.apply_plan", "orchestrator.runs.save_plan",
    "orchestrator.fleet.host.fact_run", "orchestrator.fleet.store.stored_runs",
    "orchestrator.fleet.store.lost_runs", "orchestrator.fleet.store.outcome_selection",
    "orchestrator.fleet.host.fetch_destination", "orchestrator.language.cursor",
    "orchestrator.fleet.host.reboot_wait", "orchestrator.plan_files.plan_file",
    "orchestrator.plan_files.storage", "orchestrator.manifest.checks.validators",
    "orchestrator.planning.site.selection_filter", "orchestrator.planning.site.selection",
    "orchestrator.project.reader", "orchestrator.registration.entry",
    "orchestrator.registration.store", "orchestrator.report.command_output",
    "orchestrator.report.failures", "orchestrator.report.files.json_document",
    "orchestrator.rollout.wave_sizes", "orchestrator.rollout.local_command",
    "orchestrator.rollout.scheduler", "orchestrator.rollout.gates",
    "orchestrator.rollout.shared_limits",
    "orchestrator.rollout.staged_scheduler", "orchestrator.rollout.stages",
    "orchestrator.templates.template_tree", "orchestrator.verify.stored_results",
    "remote_runtime.protocol.package_sharing",
    "remote_runtime.context", "remote_runtime.effects", "remote_runtime.host.file_ports",
    "remote_runtime.system.files",
}  # fmt: skip


def test_a_converged_command_imports_nothing_heavy(tmp_path: Path) -> None:
    """``ccm ensure`` of a file that is as it should be does without what takes long to load."""
    path = tmp_path / "a"
    owned = ["--owner", str(os.getuid()), "--group", str(os.getgid()), "--mode", "0644"]
    found = set(imported(tmp_path, "ensure", "file", str(path), "--content", "x", *owned))
    assert "orchestrator.cli.ensure_type" in found
    assert found & HEAVY == set()


def test_a_converged_push_to_this_machine_imports_nothing_heavy(tmp_path: Path) -> None:
    """``ccm push`` of a file does without them too, and without the ways to other hosts; also where
    it is one run too many, so that the oldest is removed."""
    for number in range(DEFAULT_KEEP):
        old = tmp_path / "ccm" / "runs" / f"20200101T000000Z-{number:07d}"
        old.mkdir(parents=True, mode=0o700)
        (old / "run.json").write_text("{}")
    words = ("push", "-i", str(hosts(tmp_path)), str(site(tmp_path)))
    found = set(imported(tmp_path, *words))
    assert "orchestrator.runs.run_loop" in found
    assert found & (HEAVY | OPTIONAL) == set()
    assert len(list(old.parent.iterdir())) == DEFAULT_KEEP


COMPILES = """
import re, sys
compile_, rooms = re.compile, set()
def compiled(*given):
    caller = sys._getframe(1)
    if caller.f_code.co_name == "<module>":
        rooms.add(".".join(caller.f_globals["__name__"].split(".")[:2]))
    return compile_(*given)
re.compile = compiled
from orchestrator.cli import app
app.main(sys.argv[1:])
print(*sorted(rooms), file=sys.stderr)
"""


FORWARDS = """
import sys, typing
init, names = typing.ForwardRef.__init__, []
def counted(self, *given, **named):
    init(self, *given, **named)
    names.append(self.__forward_arg__)
typing.ForwardRef.__init__ = counted
from orchestrator.cli import app
app.main(sys.argv[1:])
print(len(names), file=sys.stderr)
"""


def pushed(program: str, directory: Path) -> list[str]:
    """The words that a program prints last to stderr after it ran a converged push."""
    cache = str(caches.fill(directory / "cache"))
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": str(directory)}
    words = ["push", "-i", str(hosts(directory)), str(site(directory))]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stderr.splitlines()[-1].split()


def test_few_fields_of_named_tuples_have_strings_as_annotations(tmp_path: Path) -> None:
    """Python compiles each when the class is created."""
    assert 0 < int(pushed(FORWARDS, tmp_path)[0]) <= 60


def test_few_packages_compile_patterns_when_they_are_loaded(tmp_path: Path) -> None:
    """Most runs need few of them, and each takes as long as loading a small module."""
    found = pushed(COMPILES, tmp_path)
    rooms = {".".join(name.split(".")[:2]) for name in found}
    without = ("report", "transport", "cli", "manifest", "expressions", "fleet", "planning")
    assert "orchestrator.support" in rooms
    assert not any(room.startswith("schemas") for room in rooms)
    assert rooms & {*(f"orchestrator.{room}" for room in without)} == set()


def _type(name: str) -> Type:
    found = load_type(name)
    if found is None:
        raise CcmError(name)
    return found
