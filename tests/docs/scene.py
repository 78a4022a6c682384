"""Where the pages' examples are tried: this machine below a scratch directory, or a lab host."""

from __future__ import annotations

import getpass
import grp
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, Block, blocks, named_files
from tests.lab import Lab
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.git.repositories import git, repository

CHILD = re.compile(r"# (\S+/\S+\.yaml)\n")
_DIRECTORIES = re.compile(r"(?<![\w./])/(?=(?:etc|srv|opt)\b)")
_URL = re.compile(r"https://[a-z]+\.example\.com(/\S+?\.(?:zip|tar\.gz)|/SHA256SUMS)")
_REPOSITORY = re.compile(r"https://git\.example\.com/\S+?\.git")
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_APP = "#!/bin/sh\necho app\n"


class Scene:
    """A directory with a site of its own, and the one host that it is pushed to.

    On this machine ``/etc``, ``/srv`` and ``/opt`` of an example are directories below a scratch
    one, its owner is the user who runs the tests, and its downloads come from a server on loopback.
    """

    def __init__(self, directory: Path, lab: Lab | None = None) -> None:
        self.directory = directory
        self.root = directory / "root"
        self._lab = lab
        self._web: Web | None = None
        if lab is None:
            for name in ("etc", "srv", "opt"):
                (self.root / name).mkdir(parents=True)
            (self.root / "srv" / "app").mkdir()
            text = "hosts: {localhost: {connection: local}}\n"  # as ccm ensure calls it
            (directory / "hosts.yaml").write_text(text, encoding="utf-8")

    def close(self) -> None:
        """Stop the server, if there is one."""
        if self._web is not None:
            self._web.close()

    def write(self, block: Block) -> None:
        """Write the manifest, and the page's other files: children, sources, types."""
        (self.directory / "site.yaml").write_text(self.fill(block.manifest()), encoding="utf-8")
        found = named_files(block.page)
        for beside in blocks(block.page, "yaml"):
            if named := CHILD.match(beside.text):
                found[named[1]] = beside.text
        for name, text in found.items():
            (self.directory / name).parent.mkdir(parents=True, exist_ok=True)
            (self.directory / name).write_text(self.fill(text), encoding="utf-8")

    def fill(self, text: str) -> str:
        """The text with the places and the owner that it has here."""
        if self._lab is not None:
            return text
        text = _DIRECTORIES.sub(f"{self.root}/", _URL.sub(self._served, text))
        text = _REPOSITORY.sub(lambda _: self._repository(), text)
        user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
        for key, value in (("owner", user), ("group", group)):
            text = re.sub(rf"({key}:? |\"{key}\": \")root\b", rf"\g<1>{value}", text)
        return _SHA256.sub(hashlib.sha256(_archive()).hexdigest(), text)

    def ccm(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command as a user would, with a state and a cache of its own."""
        return self._run([*_CCM, *words], stdin)

    def push(self, *options: str) -> dict[str, Any]:
        """Push the site to the host; the document of ``--json``."""
        done = self.ccm("push", *self._hosts(), "--json", *options, "site.yaml")
        assert done.returncode == 0, done.stdout + done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def script(self, block: Block) -> subprocess.CompletedProcess[str]:
        """Run the commands of a block in a shell; they go to the host."""
        return self._run(["sh", "-e", "-c", self.fill(block.text)], "")

    def request(self, block: Block) -> dict[str, Any]:
        """The response to a request."""
        hosts = self._hosts() if self._lab else []
        done = self.ccm("ensure", "api", "pipe", *hosts, stdin=self.fill(block.text))
        response: dict[str, Any] = json.loads(done.stdout)
        return response

    def _hosts(self) -> list[str]:
        if self._lab is None:
            return ["-i", "hosts.yaml"]
        return ["-i", str(self._lab.inventory()), "-l", "web1"]

    def _run(self, argv: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PATH": f"{self._bin()}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "XDG_STATE_HOME": str(self.directory / "state"),
                "TMPDIR": str(self.directory),
                "NO_COLOR": "1",
            },
            cwd=self.directory,
            timeout=240,
        )

    def _bin(self) -> Path:
        """A directory with ``ccm``, which sends the commands of a script to the host."""
        path = self.directory / "bin" / "ccm"
        if not path.exists():
            path.parent.mkdir()
            hosts = shlex.join(self._hosts()) if self._lab else ""
            ccm = shlex.join(_CCM)
            path.write_text(
                f'#!/bin/sh\n[ "$1" = ensure ] && exec {ccm} "$@" {hosts}\nexec {ccm} "$@"\n'
            )
            path.chmod(0o755)
        return path.parent

    def _repository(self) -> str:
        """The path of a repository with the tag that the examples name."""
        path = self.directory / "repository"
        if not path.exists():
            repository(str(path), "app")
            git("-C", str(path), "tag", "v2.1.0")
        return str(path)

    def _served(self, match: re.Match[str]) -> str:
        if self._web is None:
            self._web = Web()
        data = _archive()
        if match[1] == "/SHA256SUMS":
            data = f"{hashlib.sha256(data).hexdigest()}  tool-1.2.zip\n".encode()
        self._web.answers[match[1]] = content(data)
        return self._web.url(match[1])


_CCM = [sys.executable, "-m", "orchestrator.cli.app"]


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """``type#name`` → status of every event."""
    return {f"{e['type']}#{e['name']}": e["status"] for e in document["events"]}


def _archive() -> bytes:
    """The one archive that every download gives, the same bytes each time."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:") as archive:
        member = tarfile.TarInfo("app-1.2/bin/app")
        member.size, member.mode = len(_APP), 0o755
        archive.addfile(member, io.BytesIO(_APP.encode()))
    import gzip

    return gzip.compress(data.getvalue(), mtime=0)
