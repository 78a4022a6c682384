"""The first program on a target: finds, verifies and starts the runtime (target, Python 3.6+).

The controller sends the text of this module in the argument of one command, followed by a call of
``run``; so it imports nothing of its package before the runtime is in place.

The cache is ``~/.cache/ccm`` of the effective user. It holds zips, and beside them the compiled
modules, because an import from a zip compiles every module again. A file of compiled modules is 32
bytes of BLAKE2b, which is quick without OpenSSL, and the payload that they are the hash of,
marshalled: ``[(module, is a package, code), ...]`` of those that every run imports, and ``{module:
(is a package, compressed code)}`` of the others. The bytes that were hashed are the bytes that are
imported. Where the cache cannot be used the runtime runs from memory.
"""

import marshal
import os
import stat
import sys
import zlib
from typing import Any, Dict, List, Optional, Tuple

LIMIT = 64 << 20
KEPT = 5
RUNTIME = "remote_runtime"

# What only a runtime that is not in the cache needs, so that most runs do not compile it.
FIRST_TIME = (
    "obtain",
    "compiled",
    "unpacked",
    "require",
    "sha256",
    "read_verified",
    "store",
    "prune",
    "running",
    "forget",
    "fetch",
)

Entries = Dict[str, Tuple[bool, bytes]]


class Modules(object):
    """Imports modules from a payload; each is unpacked when it is imported first."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a module of the payload, or None."""
        return self.spec(name, self._entries[name][0]) if name in self._entries else None

    def spec(self, name: str, package: bool) -> Any:
        """What the import system knows of a module of the runtime."""
        spec_class: Any = type(sys.__spec__)  # importlib.machinery would have to be imported
        return spec_class(name, self, origin="<ccm>/" + name, is_package=package)

    def add(self, modules: List[Tuple[str, bool, Any]]) -> None:
        """Import modules at once, each of which stands behind those that it imports.

        The import system does the same, in several times the time.
        """
        for name, package, _ in modules:
            module: Any = type(sys)(name)
            spec = module.__spec__ = self.spec(name, package)
            module.__loader__ = self
            module.__package__ = spec.parent
            if package:
                module.__path__ = spec.submodule_search_locations
            sys.modules[name] = module
        for name, _, code in modules:
            module = sys.modules[name]
            exec(code, module.__dict__)
            parent, _, child = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], child, module)

    def create_module(self, spec: Any) -> None:
        """The import system makes the module."""

    def exec_module(self, module: Any) -> None:
        """Run the code of a module."""
        exec(marshal.loads(zlib.decompress(self._entries[module.__name__][1])), module.__dict__)


def run(nonce: str, zip_sha: str, tag: str, code_sha: str) -> None:
    """Start the runtime and leave the process with its result; never returns.

    ``code_sha`` is the hash of the payload for interpreters of the given ``tag``; any other
    interpreter takes the zip and compiles it.
    """
    try:
        load(nonce, zip_sha, code_sha if tag == interpreter_tag() else "")
        session: Any = __import__(RUNTIME + ".session").session
    except BaseException as error:
        say(nonce, "fault", "%s: %s" % (type(error).__name__, error))
        os._exit(1)
    os._exit(1 if session.serve(nonce, zip_sha) else 0)  # it says `ready`


def load(nonce: str, zip_sha: str, code_sha: str) -> None:
    """Make ``remote_runtime`` importable, from the cache or from what the controller sends."""
    folder = open_cache()
    name = "%s.%s" % (zip_sha, interpreter_tag())
    payload = read_code(folder, name + ".code", code_sha)
    if payload is None:
        payload = obtain(nonce, zip_sha, code_sha=code_sha, folder=folder, name=name + ".code")
    if folder is not None:
        os.close(folder)
    start(payload)


def start(payload: Any) -> None:
    """Import what every run imports, and make the other modules importable."""
    import gc

    gc.disable()  # all of it stays, so there is nothing to be found
    at_once, entries = marshal.loads(payload)
    modules = Modules(entries)
    sys.meta_path.insert(0, modules)
    modules.add(at_once)
    if hasattr(gc, "freeze"):  # since Python 3.7
        gc.freeze()
    gc.enable()


def obtain(nonce: str, zip_sha: str, *, code_sha: str, folder: Optional[int], name: str) -> bytes:
    """The payload that is not in the cache, and put it there under ``name``."""
    if code_sha:
        payload = unpacked(fetch(nonce, "code"))
        require(digest(payload).hex() == code_sha)
        store(folder, name, bytes.fromhex(code_sha) + payload)
        return payload
    archive = read_verified(folder, zip_sha + ".zip", zip_sha)
    if archive is None:
        archive = fetch(nonce, "zip")
        require(sha256(archive).hexdigest() == zip_sha)
        store(folder, zip_sha + ".zip", archive)
    payload = compiled(archive)
    store(folder, name, digest(payload) + payload)
    return payload


def interpreter_tag() -> str:
    """What compiled code is bound to, such as ``cpython-311-a70d0d0a``."""
    import _frozen_importlib_external as machinery

    return "%s-%s" % (sys.implementation.cache_tag, machinery.MAGIC_NUMBER.hex())


def compiled(archive: bytes, code_of: Any = None) -> bytes:
    """The payload of a zip for this interpreter; ``code_of`` stands for ``compile``.

    The comment of the zip names the modules that every run imports, each behind what it imports.
    """
    import io
    import zipfile

    found: Dict[str, Tuple[bool, Any]] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        for path in members.namelist():
            if not path.endswith(".py"):
                continue
            name = path[:-3].replace("/", ".")
            package = name.endswith(".__init__")
            given = members.read(path), "<ccm>/" + path
            code = code_of(*given) if code_of else compile(*given, "exec", dont_inherit=True)
            found[name[: -len(".__init__")] if package else name] = (package, code)
        names = members.comment.decode().split()
    at_once = [(name,) + found.pop(name) for name in names]
    # Version 2 of the format has no back references, which depend on what else is loaded.
    entries: Entries = {
        name: (package, zlib.compress(marshal.dumps(code, 2), 6))
        for name, (package, code) in found.items()
    }
    return marshal.dumps((at_once, entries), 2)


def unpacked(data: bytes) -> bytes:
    """A payload that travelled compressed."""
    unpacking = zlib.decompressobj()
    try:
        payload = unpacking.decompress(data, LIMIT)
    except zlib.error:
        payload = b""
    require(unpacking.eof)
    return payload


def open_cache() -> Optional[int]:
    """A descriptor of the cache folder of the effective user, or None where there is none."""
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
        parent = os.path.join(home, ".cache")
        if not os.path.isdir(parent):
            os.mkdir(parent, 0o700)
        path = os.path.join(parent, "ccm")
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (KeyError, OSError):
        return None
    try:
        found = os.fstat(folder)
        if found.st_uid == os.geteuid():
            if found.st_mode & 0o077:
                os.fchmod(folder, 0o700)
            return folder
    except OSError:
        pass
    os.close(folder)
    return None


def read_code(folder: Optional[int], name: str, expected: str) -> Any:
    """The payload of a file of compiled modules; None unless it is whole and as ``expected``."""
    data = read_file(folder, name)
    if data is None or (expected and data[:32].hex() != expected):
        return None
    payload = memoryview(data)[32:]  # a megabyte, of which no copy is made
    return payload if digest(payload) == data[:32] else None


def read_verified(folder: Optional[int], name: str, sha: str) -> Optional[bytes]:
    """The bytes of a file with that hash, or None."""
    data = read_file(folder, name)
    return data if data is not None and sha256(data).hexdigest() == sha else None


def read_file(folder: Optional[int], name: str) -> Optional[bytes]:
    """The bytes of a regular file of our own in the cache, or None."""
    if folder is None:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return None
        return read_exactly(handle, found.st_size) if found.st_size <= LIMIT else None
    except (OSError, EOFError):
        return None
    finally:
        os.close(handle)


def store(folder: Optional[int], name: str, data: bytes) -> None:
    """Put a file into the cache in one step; where that fails the run goes on from memory."""
    if folder is None:
        return
    temporary = ".%s.%d" % (name, os.getpid())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        forget(folder, temporary)
        handle = os.open(temporary, flags, 0o600, dir_fd=folder)
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        prune(folder)
    except OSError:
        forget(folder, temporary)


def prune(folder: int) -> None:
    """Keep the newest few files of each kind, and drop what a killed run left behind."""
    import time

    kinds: Dict[str, List[Tuple[float, str]]] = {}
    for name in os.listdir(folder):
        when = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
        if not name.startswith("."):
            kinds.setdefault(name.rsplit(".", 1)[-1], []).append((when, name))
        elif when < time.time() - 3600 or not running(name.rsplit(".", 1)[-1]):
            forget(folder, name)
    for kind in ("zip", "code"):
        for _, name in sorted(kinds.get(kind, []), reverse=True)[KEPT:]:
            forget(folder, name)


def running(pid: str) -> bool:
    """Whether there is a process of that number of this user's."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OSError):
        return False
    return True


def forget(folder: int, name: str) -> None:
    """Remove a file of the cache if it is there."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        pass


def fetch(nonce: str, what: str) -> bytes:
    """Ask the controller for the zip or the compiled modules."""
    say(nonce, "need", what)
    size = int.from_bytes(read_exactly(0, 8), "big")
    if size > LIMIT:
        raise ValueError("the controller announced %d bytes" % size)
    return read_exactly(0, size)


def require(whole: bool) -> None:
    """Believe what arrived only where it is what it should be."""
    if not whole:
        raise ValueError("the runtime arrived damaged")


def say(nonce: str, status: str, detail: str = "") -> None:
    """Write one line of the opening."""
    line = " ".join(("ccm1 %s %s %s" % (nonce, status, detail)).split())
    write_all(1, (line[:4000] + "\n").encode("ascii", "backslashreplace"))


def read_exactly(handle: int, size: int) -> bytes:
    """Read that many bytes; EOFError when there are fewer."""
    pieces = []
    while size:
        piece = os.read(handle, min(size, 1 << 20))
        if not piece:
            raise EOFError("the input ended early")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def write_all(handle: int, data: bytes) -> None:
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def digest(data: Any) -> bytes:
    """What the compiled modules are known by; all there is of BLAKE2b in ``hashlib`` is this."""
    found: bytes = __import__("_blake2").blake2b(data, digest_size=32).digest()
    return found


def sha256(data: Any) -> Any:
    """A SHA-256; the built-in one first, because hashlib loads OpenSSL and that takes time."""
    try:
        return __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data)
    except ImportError:
        return __import__("hashlib").sha256(data)
