"""The command that starts a runtime on a host (controller).

The login shell of the user, which may be csh or fish, parses the text first: inside single quotes,
it has no single quote, backslash, exclamation mark or line break, so every shell reads it in the
same way.
"""

from __future__ import annotations

from orchestrator.image import Image

INTERPRETERS = (
    "python3",
    "/usr/libexec/platform-python",
    *(f"python3.{minor}" for minor in range(13, 5, -1)),
)

_FLAGS = ("-I", "-S", "-B", "-X", "utf8", "-c")

# An interpreter that ends with one of these never ran the bootstrap, so the next one is tried.
_SEARCH = (
    "PATH=$PATH:/usr/local/bin:/usr/bin:/bin;LC_ALL=C.UTF-8;export PATH LC_ALL;t=;"
    "a=$1;b=$2;c=$3;d=$4;e=$5;f=$6;shift 6;"
    'for i in "$@";do command -v "$i" >/dev/null 2>&1||continue;'
    f'"$i" {" ".join(_FLAGS)} "$e" "$a" "$b" "$c" "$d" "$f";r=$?;'
    'case $r in 90)r=old;;2)case $("$i" -V 2>&1) in Python*)r=old;;*)r=foreign;;esac;;'
    "91)r=incomplete;;126|127)r=broken;;*)exit $r;;esac;"
    't="$t $i=$r";done;echo "ccm1 $a nopython$t";exit 1'
)

# Where a start file of the user's has broken PATH, sudo is found all the same.
_SUDO = (
    "PATH=$PATH:/usr/local/bin:/usr/bin:/bin;LC_ALL=C;export PATH LC_ALL;"
    'command -v sudo >/dev/null 2>&1||{ echo "sudo: not found" >&2;exit 127;};exec sudo "$@"'
)

# Entries that the login may have added to PATH, such as by ~/.ssh/environment, come last if the
# command runs as another user.
_CLEAN = (
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH;export PATH;exec "$@"'
)

# Any Python parses this line; the code that it runs needs 3.6. It only checks that json exists:
# importing it takes milliseconds, and most runs need only its C part. The bootstrap is a separate
# argument, because an interpreter takes ten times as long to read a string in a program.
# All modules loaded from here on stay, so garbage collection begins after loading (``start``).
_START = (
    "import sys,gc;gc.disable();sys.version_info<(3,6)and sys.exit(90);"
    'exec(chr(10).join(["try:"," import zlib,binascii","except ImportError:",'
    '" sys.exit(91)"]));'
    'any(f.find_spec("json",None)for f in sys.meta_path)or sys.exit(91);'
    "import marshal,_frozen_importlib_external as m;"
    'like=sys.argv[3]=="%s-%s"%(sys.implementation.cache_tag,m.MAGIC_NUMBER.hex());'
    'code,text=sys.argv.pop().split(":");'
    "program=zlib.decompress(binascii.a2b_base64(code if like else text));"
    "exec(marshal.loads(program)if like else program)"
)


# Waits for the length of the words of another program, and for these words; ends without them.
_RECEIVE = """
import binascii, gc, marshal, os, sys, zlib
size, data = int.from_bytes(os.read(0, 8), "big"), b""
while len(data) < size:
    part = os.read(0, size - len(data))
    if not part:
        sys.exit(1)
    data += part
if data:
    sys.argv[1:] = data.decode().splitlines()
    exec(sys.argv.pop(1))
"""


def waiting_command(python: str) -> list[str]:
    """The argument vector of an interpreter of this machine that waits for ``program_sent``."""
    return [python, *_FLAGS, _RECEIVE]


def program_sent(image: Image, nonce: str) -> bytes:
    """The bytes with which a ``waiting_command`` starts the bootstrap."""
    data = "\n".join([_START, *_arguments(image, nonce), image.program]).encode()
    return len(data).to_bytes(8, "big") + data


def start_command(
    image: Image, nonce: str, python: str | None = None, prefer: str | None = None
) -> list[str]:
    """The argument vector that finds an interpreter and starts the bootstrap.

    ``python`` names the only interpreter to use; ``prefer`` one to try before the usual ones.
    """
    interpreters = [python] if python else [*([prefer] if prefer else []), *INTERPRETERS]
    arguments = [*_arguments(image, nonce), _START, image.program]
    return ["/bin/sh", "-c", _SEARCH, "ccm", *arguments, *interpreters]


def _arguments(image: Image, nonce: str) -> list[str]:
    return [nonce, image.sha256, image.tag, image.code_digest]


def become_command(command: list[str], user: str, prompt: str | None) -> list[str]:
    """The command run by sudo as ``user``; ``prompt`` is sudo's password prompt.

    Without a prompt, sudo must not prompt. ``-k`` makes sudo prompt even if it has a cached
    password, so that only sudo reads the password. The interpreter is searched for in the system's
    directories first, because sudo may keep the PATH of the login.
    """
    how = ["-n"] if prompt is None else ["-k", "-S", "-p", prompt]
    clean = ["/bin/sh", "-c", _CLEAN, "ccm", *command]
    return ["/bin/sh", "-c", _SUDO, "ccm", *how, "-u", user, "--", *clean]


def quote(command: list[str]) -> str:
    """The text of a command, quoted for any login shell."""
    for word in command:
        if any(char in word for char in "'\\!\n\r\0"):
            raise ValueError(f"not safe in every shell: {word[:60]!r}")
    return " ".join(f"'{word}'" for word in command)
