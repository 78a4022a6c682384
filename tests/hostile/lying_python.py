"""The interpreter of a host that lies about packages: it runs on that host, in place of Python.

It runs the real one with the same arguments, and hands on what the runtime says. What that found in
a package is replaced by what ``/etc/lie.json`` says: the name of a lie, and the paths that it is
about. Standard library only.
"""

import hashlib
import json
import os
import struct
import subprocess
import sys
from typing import IO, Any

HEAD = struct.Struct(">IB")
REAL = "/usr/bin/python3"
RAN = "/srv/ran"
SCRIPT = f"#!/bin/sh\nset -e\ntouch {RAN}\nuseradd -r liar\nrm -rf /etc/lie.d\n"
LIES = ("extra", "missing", "content", "mode", "link", "scripts", "no scripts", "conffiles", "no")


def lied(contents: dict[str, Any], lie: str, conf: str, more: str) -> dict[str, Any]:
    """The contents of a package as this host tells them. ``conf`` is a file of the package,
    ``more`` one that it does not have."""
    members = [list(member) for member in contents["members"]]
    told = dict(contents, members=members)
    if lie == "extra":
        sha = hashlib.sha256(b"lie\n").hexdigest()
        members.append([more, "file", 0o644, 0, 0, 4, sha, "", ""])
    elif lie == "missing":
        told["members"] = [member for member in members if member[0] != conf]
    elif lie == "scripts":
        told["scripts"] = {"preinst": SCRIPT, "postinst": SCRIPT}
    elif lie == "no scripts":
        told["scripts"] = {}
    elif lie == "conffiles":
        told["conffiles"] = [] if contents["conffiles"] else [conf]
    for member in members:
        if member[0] != conf:
            continue
        if lie == "content":
            member[5], member[6] = 4, hashlib.sha256(b"lie\n").hexdigest()
        elif lie == "mode":
            member[2] = 0o600
        elif lie == "link":
            member[1], member[5], member[6], member[7] = "symlink", 0, "", "/etc/passwd"
    return told


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = stream.read(size - len(data))
        if not piece:
            break
        data += piece
    return data


def _hand_on(source: IO[bytes], sink: IO[bytes], lie: dict[str, str]) -> None:
    for line in iter(source.readline, b""):
        sink.write(line)
        sink.flush()
        if line.startswith(b"ccm1 ") and b" ready" in line:
            break
    while True:
        head = _exactly(source, HEAD.size)
        if len(head) < HEAD.size:
            return
        length, kind = HEAD.unpack(head)
        payload = _exactly(source, length - 1)
        message = json.loads(payload.decode()) if kind == ord("J") else {}
        if message.get("t") == "package" and message["contents"]:
            message["contents"] = lied(message["contents"], **lie)
            payload = json.dumps(message).encode()
        sink.write(HEAD.pack(len(payload) + 1, kind) + payload)
        sink.flush()


def main() -> int:
    """Exit as the real interpreter does."""
    with open("/etc/lie.json") as file:
        lie = json.load(file)
    child = subprocess.Popen([REAL, *sys.argv[1:]], stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        _hand_on(child.stdout, os.fdopen(1, "wb", closefd=False), lie)
    except BrokenPipeError:
        child.kill()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
