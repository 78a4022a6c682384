import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.app import READERS
from orchestrator.cli.ci_log import Log


def written(*texts: str) -> str:
    out = io.StringIO()
    log = Log(out)
    for text in texts:
        assert log.write(text) == len(text)
    log.flush()
    return out.getvalue()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("::error::x\n",), ": :error::x\n"),
        (("ok\n    ::set-output name=a::b\n\t::x",), "ok\n    : :set-output name=a::b\n\t: :x"),
        (("  ", "::x\n"), "  : :x\n"),
        (("a\n", "::x\n"), "a\n: :x\n"),
        (("::::\n",), ": :::\n"),
        (("a ##vso[task.setvariable variable=x]y\n",), "a # #vso[task.setvariable variable=x]y\n"),
        (("##[set-output name=a;]b",), "# #[set-output name=a;]b"),
        (("###[x\n##teamcity[y",), "## #[x\n# #teamcity[y"),
    ],
)
def test_commands_are_texts(texts: tuple[str, ...], expected: str) -> None:
    """What a CI would obey is parted, wherever in a line it looks for it."""
    assert written(*texts) == expected


@pytest.mark.parametrize("text", ["a ::x", "web1: ::1 and fe80::1\n", "## title\n", "#[x", "a::b"])
def test_other_texts_stay(text: str) -> None:
    """What no CI takes for a command is written as it is."""
    assert written(text) == text
    assert written("name ", "::x\n") == "name ::x\n"


@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_what_it_is(indent: int | None) -> None:
    """A document says the same, and holds no command."""
    document = {"a": ["##vso[x]", "\\##[y]"], "##[k]": 1}
    text = written(json.dumps(document, indent=indent))
    assert json.loads(text) == document
    assert "##" not in text


@pytest.mark.parametrize("ci", ["", *READERS])
def test_what_a_host_prints(tmp_path: Path, ci: str) -> None:
    """In such a CI a line of a host is no command; elsewhere it is as the host wrote it."""
    around = {name: value for name, value in os.environ.items() if name not in READERS}
    around |= {"XDG_STATE_HOME": str(tmp_path)} | ({ci: "true"} if ci else {})
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {here: {connection: local}}\n")
    words = ["run", "-i", str(inventory), "-l", "all", "--", "echo", "::set-output name=a::b"]
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator.cli.app", *words],
        env=around,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (": :set-output name=a::b" in done.stdout) is bool(ci)
    assert ("    ::set-output" in done.stdout) is not bool(ci)
