"""The modules that every run imports."""

import io
import marshal
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from orchestrator.image import builder
from orchestrator.image.member_order import import_groups
from tests.orchestrator.image.test_start import converged, imported

_TAKEN = """
import sys
sys.path.insert(0, sys.argv[1])
from remote_runtime import bootstrap
with open(sys.argv[2], "rb") as file:
    payload = file.read()
for name in [name for name in sys.modules if name.startswith("remote_runtime")]:
    del sys.modules[name]
sys.path.remove(sys.argv[1])
"""
"""Takes the bootstrap and what it is sent, and forgets where they came from."""

_START = f"""{_TAKEN}
bootstrap.start(bootstrap.Sent(payload))
modules = sys.meta_path[0]
from remote_runtime.session import Session
ours = [one for name, one in sys.modules.items() if name.startswith("remote_runtime.")]
print(Session.__name__, len(ours) > 30, all(one.__loader__ is modules for one in ours))
import gc
print(gc.isenabled(), gc.get_threshold()[0])
"""

_PARTS = f"""{_TAKEN}
bootstrap.start(bootstrap.Sent(payload))
modules = sys.meta_path[0]
ours = lambda: [name for name in sys.modules if name.startswith("remote_runtime.resources.file")]

def fails():
    try:
        import remote_runtime.resources.file.resource
    except ImportError as error:
        print(error)
        print(ours())

begin, end = modules._parts["remote_runtime.resources.file"][:2]
changed = bytearray(payload)
changed[bootstrap.end_of_head(payload) + end - 1] ^= 1
modules._payload = bootstrap.Sent(bytes(changed))
fails()
modules._payload = bootstrap.Sent(payload)

def broken(self, *given):
    raise ImportError("injected")

class Broken:
    find_spec = broken

sys.meta_path.insert(0, Broken())
fails()
del sys.meta_path[0]
unpacked = []
keep = modules.keep
modules.keep = lambda part: (unpacked.append([name for name, _, _ in part]), keep(part))
import remote_runtime.resources.file.resource
below = [part for part in unpacked if "remote_runtime.resources.file" in part]
print(len(below), "remote_runtime.resources.file.modes" in below[0])
"""


def test_the_runtime_comes_from_the_payload_alone(tmp_path: Path) -> None:
    """All that the session imports is in it."""
    code = tmp_path / "code"
    code.write_bytes(zlib.decompress(builder.build().code))
    command = [sys.executable, "-I", "-B", "-c", _START, os.getcwd(), str(code)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # garbage is looked for, and seldom
    assert told.splitlines() == ["Session True True", "True 20000"]


def test_every_run_imports_all_of_them(tmp_path: Path) -> None:
    """A run does not load what it has no use for."""
    image = builder.build()
    rows = zipfile.ZipFile(io.BytesIO(image.archive)).comment.decode().split("\n")
    names = rows[0].split()
    assert set(names) <= imported(converged(tmp_path), "stable", tmp_path, noop=True)
    at_first, others = marshal.loads(zlib.decompress(image.code)[8:])
    assert [name for name, _, _ in at_first] == names
    assert not others.keys() & set(names)


def test_a_run_imports_all_that_comes_with_a_type(tmp_path: Path) -> None:
    """What is imported along with a type is what it imports by itself."""
    rows = zipfile.ZipFile(io.BytesIO(builder.build().archive)).comment.decode().split("\n")
    found = imported(converged(tmp_path), "stable", tmp_path, noop=False)
    types = [f"remote_runtime.resources.{name}" for name in ("file", "exec", "package")]
    ours = [row.split() for row in rows if row.startswith(tuple(types))]
    assert len(ours) == 3
    for row in ours:
        assert set(row) <= found


def test_what_comes_with_a_type_is_unpacked_with_it(tmp_path: Path) -> None:
    """The modules of a type are one part, which is unpacked once. A part that was changed is
    refused."""
    code = tmp_path / "code"
    code.write_bytes(zlib.decompress(builder.build().code))
    command = [sys.executable, "-I", "-B", "-c", _PARTS, os.getcwd(), str(code)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told.splitlines() == [
        "remote_runtime.resources.file is damaged in the cache of this host; push again",
        "[]",
        "injected",
        "[]",
        "1 True",
    ]


def test_what_is_imported_is_followed() -> None:
    """Packages, modules and what is named of them, and nothing that is not the runtime's."""
    members = {
        "remote_runtime/__init__.py": b"",
        "remote_runtime/session.py": b"import os\nfrom remote_runtime import wire, a\n",
        "remote_runtime/wire.py": b"from remote_runtime.stdlib_light.text import dumps\n",
        "remote_runtime/stdlib_light/__init__.py": b"",
        "remote_runtime/stdlib_light/text.py": b"def later():\n    import remote_runtime.other\n",
        "remote_runtime/other.py": b"",
    }
    names = [".stdlib_light", ".stdlib_light.text", ".wire", ".session"]
    assert import_groups(members) == [
        ["remote_runtime", *(f"remote_runtime{name}" for name in names)]
    ]


def test_a_type_has_what_nobody_else_has() -> None:
    """What is not below a type stands alone behind it."""
    below = "remote_runtime/resources/x/"
    members = {
        "remote_runtime/__init__.py": b"",
        "remote_runtime/session.py": b"",
        "remote_runtime/shell_words.py": b"",
        "remote_runtime/resources/__init__.py": b"",
        f"{below}__init__.py": b"",
        f"{below}resource.py": b"from remote_runtime import shell_words\n"
        b"from remote_runtime.resources.x import rules\n",
        f"{below}rules.py": b"",
        f"{below}left.py": b"",
        f"{below}provider.py": b"from remote_runtime.resources.x import left, rules\n",
    }
    x = "remote_runtime.resources.x"
    assert import_groups(members) == [
        ["remote_runtime", "remote_runtime.session", "remote_runtime.resources"],
        [x, f"{x}.rules", f"{x}.resource", f"{x}.left", f"{x}.provider"],
        ["remote_runtime.shell_words"],
    ]


def test_what_comes_with_types_is_not_compressed() -> None:
    """A host as desired has nothing to decompress; what is seldom imported takes less room."""
    image = builder.build()
    _, parts = marshal.loads(zlib.decompress(image.code)[8:])
    names = zipfile.ZipFile(io.BytesIO(image.archive)).comment.decode().split()
    compressed = {name for name, part in parts.items() if part[2]}
    assert compressed
    assert not compressed & set(names)
    for name in (
        "content",
        "system.push_lock",
        "resources.file.resource",
        "managed_resources.task_resource",
        "host.account_reader",
        "packages.managers.apt",
    ):
        assert f"remote_runtime.{name}" in parts.keys() - compressed


def test_what_is_seldom_imported_is_one_part_of_each_package() -> None:
    """Together, modules take less room, and a preview reads few parts."""
    _, parts = marshal.loads(zlib.decompress(builder.build().code)[8:])
    packages = {name.rpartition(".")[0]: part for name, part in parts.items() if part[2]}
    assert {part for part in parts.values() if part[2]} == set(packages.values())
    assert len(set(packages.values())) == len(packages) < 50


def test_a_package_manager_comes_in_one_part() -> None:
    """What each of them needs is read at once, without the others."""
    image = builder.build()
    _, parts = marshal.loads(zlib.decompress(image.code)[8:])
    apt, dnf = (parts[f"remote_runtime.packages.managers.{name}"] for name in ("apt", "dnf"))
    assert parts["remote_runtime.packages.apt.package_lists"] == apt
    assert parts["remote_runtime.packages.manager"] == parts["remote_runtime.host.package_ports"]
    assert len({apt, dnf, parts["remote_runtime.packages.manager"]}) == 3
