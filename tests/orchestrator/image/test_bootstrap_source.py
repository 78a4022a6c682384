"""The bootstrap as it is sent: compiled for interpreters like ours, as text for all others."""

import subprocess
import sys

import pytest

from orchestrator.image import builder
from orchestrator.transport.start_command import start_command
from remote_runtime import bootstrap

_RUN = """
import sys
compiled = []
def seen(event, args):
    if event == "compile" and "def open_cache" in str(args[0]):
        compiled.append(args[1])
sys.addaudithook(seen)
import gc, os
end = os._exit
os._exit = lambda code: (print(len(compiled), gc.isenabled(), flush=True), end(code))
exec(sys.argv.pop(1), {"__name__": "sent"})
"""


def _started(tag: str) -> list[str]:
    """What the bootstrap says that gets no runtime, how often its text was compiled, and whether
    garbage was looked for."""
    image = builder.build()._replace(tag=tag)
    start, program = start_command(image, "abc", "python3")[8:10]
    command = [sys.executable, "-I", "-S", "-c", _RUN, start, "abc", "0" * 64, tag, "", program]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(("tag", "times"), [(bootstrap.interpreter_tag(), "0"), ("other", "1")])
def test_an_interpreter_like_ours_compiles_no_bootstrap(tag: str, times: str) -> None:
    """Another one does, and goes the same way from there."""
    said = _started(tag)
    assert said[0] == "ccm1 abc need zip"
    assert said[1].startswith("ccm1 abc fault EOFError")
    assert said[2] == f"{times} False"


def test_what_every_start_compiles_is_short() -> None:
    """The bootstrap is no text in a program: an interpreter takes long to read one."""
    command = start_command(builder.build(), "abc", "python3")
    start, program = command[8:10]
    assert len(start) < 700
    assert len(program) < 15000
    assert program not in start
