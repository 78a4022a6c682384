"""Caches of a scratch user in which the image of the runtime stands, built once for all processes.

They get that of the user who runs the tests, which ``scripts/test`` makes while one waits for types
to be checked.
"""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path
from unittest import mock

from orchestrator.image import builder, image_cache


def fill(directory: Path) -> Path:
    """Make the directory of a new user's caches, as a first push leaves it."""
    if not directory.exists():
        shutil.copytree(_filled(), directory)
    return directory


@functools.cache
def _filled() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="ccm-test-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    parts: dict[str, bytes] = {}

    def load(name: str) -> bytes | None:
        found = real(name)
        if found is not None:
            parts[name] = found
        return found

    def save(contents: dict[str, bytes]) -> None:
        real_save(contents)
        parts.update(contents)

    real, real_save = image_cache.load, image_cache.save
    with (
        mock.patch.object(image_cache, "load", load),
        mock.patch.object(image_cache, "save", save),
    ):
        image = builder.build()
        assert image.archive
        assert image.code
    with mock.patch.dict("os.environ", XDG_CACHE_HOME=str(directory)):
        image_cache.save(parts)
    return directory
