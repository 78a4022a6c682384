"""The tutorial from an empty folder to a watched fleet, step by step."""

from __future__ import annotations

import getpass
import grp
import http.client
import os
import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.docs.pages import DOCS
from tests.push.command import Ccm

pytest.importorskip("starlette")
PAGE = DOCS / "tutorial-fleet.md"
_FILE = re.compile(r"```yaml\n# (\S+)\n(.*?)```", re.DOTALL)
_COMMANDS = re.compile(r"<!-- executed -->\n```console\n(.*?)```", re.DOTALL)


class Reader:
    """Somebody who follows the tutorial, in a directory and with a port of the test."""

    def __init__(self, ccm: Ccm) -> None:
        self.ccm = ccm
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.studio: subprocess.Popen[str] | None = None
        self._cookie = ""
        for name, text in _FILE.findall(PAGE.read_text("utf-8")):
            (ccm.scratch / name).write_text(self.fill(text), "utf-8")

    def fill(self, text: str) -> str:
        """The text with the places, the port and the user of the test."""
        user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
        text = text.replace("/tmp/fleet", str(self.ccm.scratch / "fleet"))
        text = text.replace("127.0.0.1:8700", f"127.0.0.1:{self.port}")
        return text.replace("owner: root", f"owner: {user}").replace(
            "group: root", f"group: {group}"
        )

    def follow(self, block: str) -> str:
        """Run the commands; what those of ccm printed."""
        said = ""
        for line in map(self.fill, block.splitlines()):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:2] == ["ccm", "studio"] and "--listen" in words:
                self.studio = self.ccm.start(*words[1:])
                self._log_in()
            elif words[0] == "ccm":
                until = words.index(">") if ">" in words else len(words)
                done = self.ccm.run(*words[1:until])
                assert done.code == ("# fails" in line), line + done.stdout + done.stderr
                if until < len(words):
                    (self.ccm.scratch / words[until + 1]).write_text(done.stdout)
                said += done.stdout
            else:
                subprocess.run(words, cwd=self.ccm.scratch, check=True)
        return said

    def _log_in(self) -> None:
        assert self.studio is not None
        assert self.studio.stdout is not None
        token = self.studio.stdout.readline().partition("token=")[2].strip()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", "/login", urlencode({"token": token}), {
            "Content-Type": "application/x-www-form-urlencoded"
        })  # fmt: skip
        found = SimpleCookie(connection.getresponse().getheader("set-cookie"))
        self._cookie = "; ".join(f"{one.key}={one.value}" for one in found.values())

    def page(self, path: str, words: str) -> str:
        """A page once these words are on it; the index follows a run within seconds."""
        end = time.monotonic() + 40
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            connection.request("GET", path, headers={"Cookie": self._cookie})
            text = connection.getresponse().read().decode()
            if words in text or time.monotonic() > end:
                assert words in text, re.sub(r"<[^>]*>", " ", text)
                return text
            time.sleep(0.2)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    ccm = Ccm(tmp_path)
    for variable in ("CCM_INVENTORY", "CCM_HISTORY", "CCM_HISTORY_TOKEN"):
        ccm.environment.pop(variable, None)
    made = Reader(ccm)
    yield made
    if made.studio is not None:
        made.studio.send_signal(signal.SIGINT)
        made.studio.communicate(timeout=60)


def test_each_step_does_what_the_page_says(reader: Reader) -> None:
    """The commands succeed or fail as the page says, and the browser shows what it says."""
    start, push, broken, repaired = _COMMANDS.findall(PAGE.read_text("utf-8"))
    reader.follow(start)
    reader.page("/", "<dt>hosts</dt><dd>3</dd>")
    reader.follow(push)
    assert (reader.ccm.scratch / "fleet/web3/app.conf").read_text().startswith("name = web3\n")
    reader.page("/runs", "3 changed")
    said = reader.follow(broken)
    assert "1 failed" in said
    reader.page("/badge.json", "1 of 3 hosts in trouble")
    assert "app.conf" in reader.page("/hosts/web2", "failed")
    reader.follow(repaired)
    reader.page("/badge.json", "3 hosts ok")
    reader.page("/hosts/web2", "fine since ")
