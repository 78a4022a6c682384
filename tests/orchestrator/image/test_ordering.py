"""The modules that every run imports."""

import io
import marshal
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

from orchestrator.image import building
from orchestrator.image.ordering import at_once
from tests.orchestrator.image.test_start import converged, imported

_START = """
import sys
sys.path.insert(0, sys.argv[1])
from remote_runtime import bootstrap
with open(sys.argv[2], "rb") as file:
    payload = file.read()
for name in [name for name in sys.modules if name.startswith("remote_runtime")]:
    del sys.modules[name]
sys.path.remove(sys.argv[1])
asked = []
bootstrap.Modules.find_spec = lambda self, name, *rest: asked.append(name)
bootstrap.start(payload)
print(sys.modules["remote_runtime.session"].Session.__name__, *asked)
"""


def test_each_stands_behind_what_it_imports(tmp_path: Path) -> None:
    """Nothing is missing when they are imported one after the other, without the import system."""
    code = tmp_path / "code"
    code.write_bytes(zlib.decompress(building.build().code))
    command = [sys.executable, "-I", "-B", "-c", _START, os.getcwd(), str(code)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert [name for name in told.split() if "." in name] == []
    assert told.split()[0] == "Session"


def test_every_run_imports_all_of_them(tmp_path: Path) -> None:
    """A run does not load what it has no use for."""
    image = building.build()
    names = zipfile.ZipFile(io.BytesIO(image.archive)).comment.decode().split()
    assert set(names) <= imported(converged(tmp_path), "stable", tmp_path, noop=True)
    at_first, others = marshal.loads(zlib.decompress(image.code))
    assert [name for name, _, _ in at_first] == names
    assert not others.keys() & set(names)


def test_what_is_imported_is_followed() -> None:
    """Packages, modules and what is named of them, and nothing that is not the runtime's."""
    members = {
        "remote_runtime/__init__.py": b"",
        "remote_runtime/session.py": b"import os\nfrom remote_runtime import wire, a\n",
        "remote_runtime/wire.py": b"from remote_runtime.lean.text import dumps\n",
        "remote_runtime/lean/__init__.py": b"",
        "remote_runtime/lean/text.py": b"def later():\n    import remote_runtime.other\n",
        "remote_runtime/other.py": b"",
    }
    names = [".lean", ".lean.text", ".wire", ".session"]
    assert at_once(members) == ["remote_runtime", *(f"remote_runtime{name}" for name in names)]
