"""Makes wheels, and a directory of them that pip takes for an index."""

import base64
import hashlib
import os
import zipfile
from typing import Sequence


def wheel(directory: str, name: str, version: str, needs: Sequence[str] = ()) -> str:
    """Write a wheel with one module; its SHA-256."""
    plain = name.replace("-", "_")
    info = "%s-%s.dist-info" % (plain, version)
    metadata = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)
    metadata += "".join("Requires-Dist: %s\n" % line for line in needs)
    files = {
        plain.lower() + ".py": "VERSION = %r\n" % version,
        info + "/METADATA": metadata + "\n",
        info + "/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "".join("%s,sha256=%s,%d\n" % (f, _sha(t), len(t)) for f, t in files.items())
    files[info + "/RECORD"] = record + info + "/RECORD,,\n"
    path = os.path.join(directory, "%s-%s-py3-none-any.whl" % (plain, version))
    with zipfile.ZipFile(path, "w") as made:
        for file, text in files.items():
            made.writestr(file, text)
    with open(path, "rb") as read:
        return hashlib.sha256(read.read()).hexdigest()


def _sha(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
