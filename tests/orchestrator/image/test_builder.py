"""The runtime image."""

import hashlib
import io
import marshal
import os
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from orchestrator.image import builder, image_cache
from orchestrator.image.bootstrap_source import bootstrap_text
from remote_runtime import bootstrap
from tests import caches


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ccm" / "image"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A runtime of few modules, for what does not depend on what is built: all take seconds."""
    kept = ("__init__", "version", "errors", "text/", "resources/__init__", "resources/file/")
    prefixes = tuple(f"remote_runtime/{each}" for each in kept)
    chosen = {name: path for name, path in builder._sources().items() if name.startswith(prefixes)}
    assert "remote_runtime/resources/file/resource.py" in chosen
    monkeypatch.setattr(builder, "_sources", lambda: chosen)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> builder.Image:
    """One that tests look into; made once, as it takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(caches.fill(tmp_path_factory.mktemp("home") / "cache")))
        made = builder.build()
        assert made.archive
        assert made.code
    return made


def _told(image: builder.Image) -> tuple[object, ...]:
    """All that it says."""
    return (
        image.sha256, image.code_digest, image.tag, image.program, image.archive, image.code,
    )  # fmt: skip


def _entries(image: builder.Image) -> dict[str, tuple[bool, Any]]:
    """What the compiled form has by module: whether it is a package, and its code."""
    payload = zlib.decompress(image.code)
    at_once, parts = marshal.loads(payload[8:])
    head = payload[: bootstrap.end_of_head(payload)]
    assert bootstrap.is_whole(head, len(payload), bytes.fromhex(image.code_digest))
    data = payload[len(head) :]
    found = list(at_once)
    for begin, end, compressed, expected in set(parts.values()):
        part = data[begin:end]
        assert bootstrap.digest(part) == expected
        found += marshal.loads(zlib.decompress(part) if compressed else part)
    entries = {name: (package, code) for name, package, code in found}
    assert len(entries) == len(found)
    assert parts.keys() == entries.keys() - {name for name, _, _ in at_once}
    return entries


def test_the_zip_is_the_same_byte_for_byte(image: builder.Image) -> None:
    """Two builds from the same sources, with two caches, give the same bytes."""
    first, second = image, builder.build()
    assert first.archive == second.archive
    assert first.code == second.code
    assert first.sha256 == hashlib.sha256(first.archive).hexdigest()
    payload = zlib.decompress(first.code)
    head = payload[: bootstrap.end_of_head(payload)]
    assert first.code_digest == hashlib.blake2b(head, digest_size=32).hexdigest()


def test_the_zip_holds_sorted_modules_and_nothing_else(image: builder.Image) -> None:
    """Members are Python modules of the runtime, sorted, with one fixed time and mode."""
    members = zipfile.ZipFile(io.BytesIO(image.archive)).infolist()
    names = [member.filename for member in members]
    assert names == sorted(names)
    assert "remote_runtime/session.py" in names
    assert all(name.endswith(".py") and "__pycache__" not in name for name in names)
    assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
    assert {member.external_attr for member in members} == {0o100644 << 16}


def test_the_compiled_modules_are_those_of_the_zip(image: builder.Image) -> None:
    """Every module of the zip is in the payload, packages marked as such, and can be run."""
    names = zipfile.ZipFile(io.BytesIO(image.archive)).namelist()
    entries = _entries(image)
    assert len(entries) == len(names)
    assert entries["remote_runtime"][0] is True
    assert entries["remote_runtime.protocol.wire"][0] is False
    namespace: dict[str, object] = {"__name__": "version"}
    exec(entries["remote_runtime.version"][1], namespace)
    assert namespace["VERSION"]


@pytest.mark.usefixtures("few")
def test_a_kept_image_is_used_and_a_damaged_one_is_built_anew(cache: Path) -> None:
    """The second build reads the cache; a file that is not what its hash says is not believed."""
    good = _told(builder.build())
    kept = sorted(cache.iterdir())
    assert len(kept) == 3
    times = [path.stat().st_mtime_ns for path in kept]
    assert _told(builder.build()) == good
    assert [path.stat().st_mtime_ns for path in kept] == times
    for path in kept:
        path.write_bytes(path.read_bytes()[:-1] + b"x")
        assert _told(builder.build()) == good
    kept[0].unlink()
    assert _told(builder.build()) == good


@pytest.mark.usefixtures("few")
def test_what_most_hosts_have_is_not_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the forms are known by stands in a file of its own; to read and hash them takes time."""
    good = builder.build()
    names = (good.sha256, good.code_digest, good.program)
    asked = []

    def load(name: str) -> bytes | None:
        asked.append(name)
        return real(name)

    real = image_cache.load
    monkeypatch.setattr(image_cache, "load", load)
    kept = builder.build()
    assert (kept.sha256, kept.code_digest, kept.program) == names
    assert [name.rpartition(".")[2] for name in asked] == ["names"]
    for path in cache.iterdir():
        path.unlink()
    assert (kept.archive, kept.code) == (good.archive, good.code)


@pytest.mark.usefixtures("few")
def test_a_cache_that_others_may_write_is_not_used(cache: Path) -> None:
    """A directory with write permission for others is left alone."""
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    builder.build()
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("few")
def test_a_cache_that_others_may_replace_is_not_used(cache: Path) -> None:
    """Nor one in such a directory; a new one is private, whatever the umask is."""
    before = os.umask(0)
    try:
        builder.build()
        assert [stat.S_IMODE(path.stat().st_mode) for path in (cache, cache.parent)] == [0o700] * 2
        for path in cache.iterdir():
            path.unlink()
        cache.parent.chmod(0o777)
        builder.build()
    finally:
        os.umask(before)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("few")
def test_the_cache_keeps_a_few_images(cache: Path) -> None:
    """Old files go when new ones come."""
    cache.mkdir(parents=True, mode=0o700)
    for number in range(image_cache.KEPT):
        (cache / f"old{number}").write_bytes(b"")
    builder.build()
    assert len(list(cache.iterdir())) == image_cache.KEPT


@pytest.mark.usefixtures("few")
def test_a_type_of_a_site_joins_the_runtime(cache: Path) -> None:
    """A site's modules are added as they are, and a change in them makes another image."""
    image = builder.build({"greeting/resource.py": b"Resource = 1  # as written\n"})
    archive = zipfile.ZipFile(io.BytesIO(image.archive))
    found = archive.read("remote_runtime/resources/greeting/resource.py")
    assert found == b"Resource = 1  # as written\n"
    assert archive.namelist() == sorted(archive.namelist())
    entries = _entries(image)
    packages = {name: package for name, (package, _) in _entries(builder.build()).items()}
    added = "remote_runtime.resources.greeting.resource"
    assert {name: package for name, (package, _) in entries.items()} == {**packages, added: False}
    namespace: dict[str, object] = {}
    exec(entries[added][1], namespace)
    assert namespace["Resource"] == 1
    other = builder.build({"greeting/resource.py": b"Resource = 2  # as written\n"})
    assert len({image.sha256, other.sha256, builder.build().sha256}) == 3
    assert len(list(cache.iterdir())) == 9


@pytest.mark.usefixtures("few")
def test_a_type_of_a_site_replaces_nothing() -> None:
    """Modules that the runtime has cannot be given."""
    with pytest.raises(ValueError, match=r"file/resource\.py"):
        builder.build({"file/resource.py": b""})


def test_the_bootstrap_is_sent_without_what_people_read() -> None:
    """The text has no docstring, no annotation and no import of typing, and ends with the call."""
    text = bootstrap_text()
    assert '"""' not in text
    assert "typing" not in text
    assert text.endswith("run(*sys.argv[1:])\n")
    namespace: dict[str, object] = {"__name__": "sent"}
    exec(text.replace("run(*sys.argv[1:])", ""), namespace)
    assert namespace["KEPT"] == bootstrap.KEPT


def test_the_bootstrap_unfolds_what_a_first_run_needs() -> None:
    """What only a first run needs is neither compiled nor there before it is called for."""
    text = bootstrap_text()
    assert "def fetch(" not in text
    namespace: dict[str, object] = {"__name__": "sent"}
    exec(text.replace("run(*sys.argv[1:])", ""), namespace)
    assert "fetch" not in namespace
    obtain = namespace["obtain"]
    assert callable(obtain)
    with pytest.raises(TypeError, match="nonce"):
        obtain()
    assert all(callable(namespace[name]) for name in bootstrap.FIRST_TIME)
