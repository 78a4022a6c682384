"""The bootstrap as it is sent: compiled for interpreters like ours, as text for all others."""

import subprocess
import sys
import zlib

import pytest

from orchestrator.image.program import program
from remote_runtime import bootstrap

_RUN = """
import sys
compiled = []
def seen(event, args):
    if event == "compile" and "def open_cache" in str(args[0]):
        compiled.append(args[1])
sys.addaudithook(seen)
import os
end = os._exit
os._exit = lambda code: (print(len(compiled), flush=True), end(code))
sys.argv = ["", "abc", "0" * 64, "", ""]
exec(sys.stdin.read(), {"__name__": "sent"})
"""


def _started(text: str) -> list[str]:
    """What the bootstrap says that gets no runtime, and how often its text was compiled."""
    command = [sys.executable, "-I", "-S", "-c", _RUN]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


@pytest.mark.parametrize(("tag", "times"), [(bootstrap.interpreter_tag(), "0"), ("other", "1")])
def test_an_interpreter_like_ours_compiles_no_bootstrap(tag: str, times: str) -> None:
    """Another one does, and goes the same way from there."""
    text = zlib.decompress(program()).decode().replace(bootstrap.interpreter_tag(), tag)
    said = _started(text)
    assert said[0] == "ccm1 abc need zip"
    assert said[1].startswith("ccm1 abc fault EOFError")
    assert said[2] == times
