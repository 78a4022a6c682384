"""What is compiled for targets whose interpreter is like the controller's."""

import ast
import hashlib
import inspect
import io
import marshal
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from orchestrator.image import builder
from orchestrator.image.bytecode import code_of, marshalled, payload
from remote_runtime import bootstrap

SOURCE = """
def fails(
    number,
):
    match number:
        case 1:
            return [
                n / 0 for n in (1, 2)
            ]
    with open("x") as file, open("y"):
        pass
    try:
        return lambda *a, b=1, **c: f"{number!r}"
    except ValueError as error:
        raise
"""


@pytest.fixture(scope="module")
def few() -> bytes:
    """The modules that every run imports: to compile all of them takes seconds."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(builder.build().archive)) as whole:
        first = whole.comment.split(b"\n")[0]
        with zipfile.ZipFile(target, "w") as archive:
            archive.comment = first
            for name in whole.namelist():
                path = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                if path in first.decode().split():
                    archive.writestr(name, whole.read(name))
    return target.getvalue()


def test_the_code_knows_its_lines() -> None:
    """A traceback names the line of the source, as that of code with columns would."""
    raised = []
    for code in (code_of(SOURCE, "here"), compile(SOURCE, "here", "exec")):
        namespace: dict[str, object] = {}
        exec(code, namespace)
        fails = namespace["fails"]
        assert callable(fails)
        with pytest.raises(ZeroDivisionError) as caught:
            fails(1)
        frames = traceback.extract_tb(caught.value.__traceback__)[1:]
        raised.append([(frame.name, frame.lineno) for frame in frames])
    assert raised[0] == raised[1]
    assert raised[0][-1][1] == 8


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code of older Pythons knows no columns")
@pytest.mark.parametrize("module", [bootstrap, builder, ast, subprocess])
def test_each_instruction_has_its_line_and_no_column(module: ModuleType) -> None:
    """As in what Python itself compiles, also where lines go back or hundreds are left out."""

    def places(code: CodeType) -> Iterator[tuple[int | None, ...]]:
        if sys.version_info >= (3, 11):
            yield from code.co_positions()
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from places(constant)

    source = inspect.getsource(module)
    found = list(places(code_of(source, "here")))
    assert [place[0] for place in found] == [
        place[0] for place in places(compile(source, "here", "exec"))
    ]
    assert {place[2:] for place in found} == {(None, None)}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code of older Pythons has one name only")
def test_nothing_has_a_longer_name() -> None:
    """What is within a class or function is called by its own name, which a traceback tells."""
    code = code_of("class A:\n    def f(self):\n        return lambda: 1\n", "here")
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    function = namespace["A"].f
    assert (function.__name__, function.__qualname__) == ("f", "f")
    assert function(None).__qualname__ == "<lambda>"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code of older Pythons knows no columns")
def test_the_payload_is_smaller_by_the_columns(few: bytes) -> None:
    """By a fifth at least of what each start has to read, hash and unpack."""
    archive = few
    assert len(payload(archive)) < 0.8 * len(bootstrap.compiled(archive))


def test_what_is_kept_is_compiled_so() -> None:
    """The image of this machine's interpreter is that payload."""
    image = builder.build()
    assert image.code == payload(image.archive)


_ELSEWHERE = """
import hashlib, sys
if sys.argv[2]:
    names = [sys.intern(name) for name in sys.argv[2].split()]
    import argparse, email.message, json, re, unittest
sys.path.insert(0, ".")
from orchestrator.image.bytecode import payload
with open(sys.argv[1], "rb") as file:
    print(hashlib.sha256(payload(file.read())).hexdigest())
"""


def test_the_payload_is_the_same_in_every_process(few: bytes, tmp_path: Path) -> None:
    """Whatever else is loaded, and shares texts with it."""
    archive = tmp_path / "zip"
    archive.write_bytes(few)
    with zipfile.ZipFile(io.BytesIO(archive.read_bytes())) as members:
        words = members.read("remote_runtime/session.py").decode()
    told = {hashlib.sha256(payload(archive.read_bytes())).hexdigest()}
    for names in ("", " ".join({word for word in words.split() if word.isidentifier()})):
        command = [sys.executable, "-c", _ELSEWHERE, str(archive), names]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        told.add(done.stdout.strip())
    assert len(told) == 1


def test_a_text_is_written_once() -> None:
    """What is read back is what was given, and smaller than without references."""
    code = code_of(SOURCE, "here")
    data = marshalled([("name", code), ("name", code)])
    assert [name for name, _ in marshal.loads(data)] == ["name", "name"]
    assert marshal.loads(data)[0][1].co_consts == code.co_consts
    assert len(data) < len(marshal.dumps([("name", code), ("name", code)], 2))
