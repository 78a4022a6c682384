"""The first program on a target: finds, verifies and starts the runtime (target, Python 3.6+).

The controller sends this module as the argument of one command, followed by a call of ``run``. It
therefore imports nothing from its package before the runtime is in place.

The cache is ``~/.cache/ccm`` of the effective user. It contains zips, and next to them the compiled
modules, because an import from a zip compiles every module again. If the cache cannot be used, the
runtime runs from memory. A file of compiled modules consists of 32 bytes of BLAKE2b, which is fast
without OpenSSL, and the payload::

    4 bytes   length of the head, big-endian
    4 bytes   length of all parts
    head      marshalled: [(module, is a package, code), ...] that every run imports, and
              {module: part} of the others, with part = (begin, end, is compressed, BLAKE2b)
    parts     each [(module, is a package, code), ...], modules that are needed together

The hash covers the payload up to the parts. The head contains the hash of each part, so a part is
read and hashed only if one of its modules is imported. If it is damaged, the import fails, and the
next run fetches the file again.
"""

import gc
import marshal
import os
import stat
import sys
import zlib
from typing import Any, Dict, List, Optional, Tuple, Union

LIMIT = 64 << 20
KEPT = 5
F_SETPIPE_SZ = 1031  # fcntl has it since Python 3.10
RUNTIME = "remote_runtime"

# Functions for a runtime that is not in the cache. Most runs do not compile them.
FIRST_TIME = (
    "Sent",
    "obtain",
    "compiled",
    "unpacked",
    "require",
    "sha256",
    "read_verified",
    "store",
    "prune",
    "running",
    "fetch",
)

Coded = List[Tuple[str, bool, Any]]
Part = Tuple[int, int, bool, bytes]


class Sent(object):
    """A payload that is not in the cache."""

    def __init__(self, payload: bytes) -> None:
        self.head = memoryview(payload)[: end_of_head(payload)]
        self._parts = memoryview(payload)[len(self.head) :]

    def read(self, begin: int, end: int) -> memoryview:
        """Return these bytes of the parts."""
        return self._parts[begin:end]

    def discard(self) -> None:
        """Do nothing: the next run gets another one."""


class Cached(object):
    """A payload in the cache; its file stays open, and its parts are read when they are needed."""

    def __init__(self, head: bytes, handle: int, directory: int, name: str) -> None:
        self.head = head
        self._handle = handle
        self._place = directory, name

    def read(self, begin: int, end: int) -> bytes:
        """Return these bytes of the parts."""
        return os.pread(self._handle, end - begin, 32 + len(self.head) + begin)

    def discard(self) -> None:
        """Remove it from the cache."""
        forget(*self._place)


Payload = Union["Sent", Cached]


class Modules(object):
    """Finds and loads modules of a payload; a part of it is read when one of its modules is
    needed.
    """

    def __init__(self, parts: Dict[str, Part], payload: Payload) -> None:
        self._parts = parts
        self._payload = payload
        self._codes: Dict[str, Tuple[bool, Any]] = {}

    def keep(self, modules: Coded) -> None:
        """Make modules importable."""
        for name, package, code in modules:
            self._codes[name] = package, code

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module of the payload, or None."""
        if name not in self._codes:
            part = self._parts.get(name)
            if part is None:
                return None
            begin, end, compressed, expected = part
            data = self._payload.read(begin, end)
            if digest(data) != expected:
                self._payload.discard()
                raise ImportError("%s is damaged in the cache of this host; push again" % name)
            self.keep(marshal.loads(zlib.decompress(data) if compressed else data))
        spec_class: Any = type(sys.__spec__)  # importlib.machinery would need an import
        package = self._codes[name][0]
        return spec_class(name, self, origin="<ccm>/" + name, is_package=package)

    def create_module(self, spec: Any) -> Any:
        """Return None: the module is created as usual."""

    def exec_module(self, module: Any) -> None:
        """Run its code."""
        exec(self._codes[module.__name__][1], module.__dict__)


def run(nonce: str, zip_sha: str, tag: str, code_sha: str) -> None:
    """Start the runtime and exit the process with its result; never returns.

    ``code_sha`` is the hash of the payload for interpreters with the given ``tag``; any other
    interpreter uses the zip and compiles it.
    """
    try:
        load(nonce, zip_sha, code_sha if tag == interpreter_tag() else "")
        session: Any = __import__(RUNTIME + ".session").session
    except BaseException as error:  # the controller hears why nothing starts
        say(nonce, "fault", "%s: %s" % (type(error).__name__, error))
        os._exit(1)
    os._exit(1 if session.serve(nonce, zip_sha) else 0)  # it says `ready`


def load(nonce: str, zip_sha: str, code_sha: str) -> None:
    """Make ``remote_runtime`` importable, from the cache or from the controller."""
    directory = open_cache()
    name = "%s.%s.code" % (zip_sha, interpreter_tag())
    payload = read_code(directory, name, code_sha)
    start(payload or obtain(nonce, zip_sha, code_sha=code_sha, directory=directory, name=name))


def start(payload: Payload) -> None:
    """Make the modules of the runtime importable."""
    gc.disable()  # the command of a controller has already done this
    at_once, parts = marshal.loads(memoryview(payload.head)[8:])
    modules = Modules(parts, payload)
    sys.meta_path.insert(0, modules)
    modules.keep(at_once)
    gc.set_threshold(20000)  # a run creates a few thousand objects; most live until its end
    gc.enable()


def obtain(
    nonce: str, zip_sha: str, *, code_sha: str, directory: Optional[int], name: str
) -> "Sent":
    """Return the payload that is not in the cache, and store it there under ``name``."""
    if code_sha:
        payload = unpacked(fetch(nonce, "code"))
        sent = Sent(payload)
        require(is_whole(sent.head, len(payload), bytes.fromhex(code_sha)))
        store(directory, name, bytes.fromhex(code_sha), payload)
        return sent
    archive = read_verified(directory, zip_sha + ".zip", zip_sha)
    if archive is None:
        archive = fetch(nonce, "zip")
        require(sha256(archive).hexdigest() == zip_sha)
        store(directory, zip_sha + ".zip", archive)
    payload = compiled(archive)
    store(directory, name, sum_of(payload), payload)
    return Sent(payload)


def interpreter_tag() -> str:
    """Return the interpreter's tag, to which compiled code is bound, such as
    ``cpython-311-a70d0d0a``."""
    import _frozen_importlib_external as machinery

    return "%s-%s" % (sys.implementation.cache_tag, machinery.MAGIC_NUMBER.hex())


def compiled(archive: bytes, code_of: Any = None, dumps: Any = marshal.dumps) -> bytes:
    """Return the payload of a zip for this interpreter; ``code_of`` replaces ``compile``.

    The comment of the zip names modules that are needed together, each after its imports. The first
    line lists the modules that every run imports. Modules on no line are compressed, those of a
    package as one part, which makes them smaller.
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
        rows = [line.split() for line in members.comment.decode().split("\n")]
    grouped = {name for row in rows for name in row}
    packages = {}  # type: Dict[str, List[str]]
    for name in found:
        if name not in grouped:
            packages.setdefault(name.rpartition(".")[0], []).append(name)
    at_once = [(name,) + found[name] for name in rows[0]]
    parts, data = {}, b""  # type: Tuple[Dict[str, Part], bytes]
    for row in rows[1:] + list(packages.values()):
        part = dumps([(name,) + found[name] for name in row], 4)
        seldom = row[0] not in grouped
        if seldom:
            part = zlib.compress(part, 6)
        place = (len(data), len(data) + len(part), seldom, digest(part))
        parts.update((name, place) for name in row)
        data += part
    head: bytes = dumps((at_once, parts), 4)
    return len(head).to_bytes(4, "big") + len(data).to_bytes(4, "big") + head + data


def unpacked(data: bytes) -> bytes:
    """Return the decompressed form of a payload."""
    unpacking = zlib.decompressobj()
    try:
        payload = unpacking.decompress(data, LIMIT)
    except zlib.error:
        payload = b""
    require(unpacking.eof)
    return payload


def open_cache() -> Optional[int]:
    """Return a descriptor of the cache directory of the effective user; None if there is none."""
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
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (KeyError, OSError):
        return None
    try:
        found = os.fstat(directory)
        if found.st_uid == os.geteuid():
            if found.st_mode & 0o077:
                os.fchmod(directory, 0o700)
            return directory
    except OSError:
        pass
    os.close(directory)
    return None


def read_code(directory: Optional[int], name: str, expected: str) -> Optional[Cached]:
    """Return the payload of a file of compiled modules; None unless it is complete and as
    ``expected``.
    """
    opened = open_file(directory, name)
    if directory is None or opened is None:
        return None
    handle, size = opened
    try:
        lead = os.read(handle, 40)
        head = os.pread(handle, min(end_of_head(lead[32:]), size), 32)
    except OSError:
        head = b""
    if is_whole(head, size - 32, lead[:32]) and expected in ("", lead[:32].hex()):
        return Cached(head, handle, directory, name)
    os.close(handle)
    return None


def end_of_head(payload: Any) -> int:
    """Return the position where the parts of a payload begin."""
    return 8 + int.from_bytes(payload[:4], "big")


def sum_of(payload: Any) -> bytes:
    """Return the hash that identifies a payload."""
    return digest(memoryview(payload)[: end_of_head(payload)])


def is_whole(head: Any, size: int, expected: bytes) -> bool:
    """Return whether a payload of ``size`` bytes with this head is complete and has the expected
    hash.
    """
    parts = int.from_bytes(head[4:8], "big")
    return size == end_of_head(head) + parts and digest(head) == expected


def read_verified(directory: Optional[int], name: str, sha: str) -> Optional[bytes]:
    """Return the bytes of the file with that hash, or None."""
    data = read_file(directory, name)
    return data if data is not None and sha256(data).hexdigest() == sha else None


def read_file(directory: Optional[int], name: str) -> Optional[bytes]:
    """Return the bytes of the user's own regular file in the cache, or None."""
    opened = open_file(directory, name)
    if opened is None:
        return None
    handle, size = opened
    try:
        data = os.read(handle, size)
        return data if len(data) == size else None
    except OSError:
        return None
    finally:
        os.close(handle)


def open_file(directory: Optional[int], name: str) -> Optional[Tuple[int, int]]:
    """Return a descriptor of the user's own regular file in the cache and its size, or None."""
    if directory is None:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(name, flags, dir_fd=directory)
    except OSError:
        return None
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_size <= LIMIT:
        return handle, found.st_size
    os.close(handle)
    return None


def store(directory: Optional[int], name: str, *pieces: bytes) -> None:
    """Put a file into the cache in one step; if that fails, the run continues from memory."""
    if directory is None:
        return
    temporary = ".%s.%d" % (name, os.getpid())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        forget(directory, temporary)
        handle = os.open(temporary, flags, 0o600, dir_fd=directory)
        try:
            for data in pieces:
                write_all(handle, data)
        finally:
            os.close(handle)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        prune(directory)
    except OSError:
        forget(directory, temporary)


def prune(directory: int) -> None:
    """Keep the newest few files of each kind, and remove the leftovers of killed runs."""
    import time

    kinds: Dict[str, List[Tuple[float, str]]] = {}
    for name in os.listdir(directory):
        when = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mtime
        if not name.startswith("."):
            kinds.setdefault(name.rsplit(".", 1)[-1], []).append((when, name))
        elif when < time.time() - 3600 or not running(name.rsplit(".", 1)[-1]):
            forget(directory, name)
    for kind in ("zip", "code"):
        for _, name in sorted(kinds.get(kind, []), reverse=True)[KEPT:]:
            forget(directory, name)


def running(pid: str) -> bool:
    """Return whether a process with this number belongs to this user."""
    try:
        os.kill(int(pid), 0)
    except (ValueError, OSError):
        return False
    return True


def forget(directory: int, name: str) -> None:
    """Remove a file of the cache if it exists."""
    try:
        os.unlink(name, dir_fd=directory)
    except OSError:
        pass


def fetch(nonce: str, what: str) -> bytes:
    """Request the zip or the compiled modules from the controller."""
    import fcntl

    try:  # sshd keeps what the pipe has no room for, and copies it with each packet that arrives
        fcntl.fcntl(0, F_SETPIPE_SZ, 1 << 20)
    except OSError:  # no pipe, or too many of this user
        pass
    say(nonce, "need", what)
    size = int.from_bytes(read_exactly(0, 8), "big")
    if size > LIMIT:
        raise ValueError("the controller announced %d bytes" % size)
    return read_exactly(0, size)


def require(whole: bool) -> None:
    """Accept the received data only if it is complete."""
    if not whole:
        raise ValueError("the runtime was damaged in transfer")


def say(nonce: str, status: str, detail: str = "") -> None:
    """Write one line of the opening handshake."""
    line = " ".join(("ccm1 %s %s %s" % (nonce, status, detail)).split())
    write_all(1, (line[:4000] + "\n").encode("ascii", "backslashreplace"))


def read_exactly(handle: int, size: int) -> bytes:
    """Read that many bytes; EOFError if there are fewer."""
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
    """Return the hash that identifies the compiled modules; uses only the BLAKE2b of
    ``hashlib``."""
    found: bytes = __import__("_blake2").blake2b(data, digest_size=32).digest()
    return found


def sha256(data: Any) -> Any:
    """Return a SHA-256 object; the built-in one is preferred, because hashlib loads OpenSSL, which
    takes time.
    """
    try:
        return __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256(data)
    except ImportError:
        return __import__("hashlib").sha256(data)
