"""Archives as a push leaves them, from a real web server; over SSH and locally."""

import hashlib
import os
import re
import shutil
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, blocks
from tests.lab import Host
from tests.push.command import Event, Run
from tests.push.target import Target
from tests.remote_runtime.archive import server
from tests.remote_runtime.archive.making import APP, member, tar, zipped

DATA = tar(APP)
SUM = hashlib.sha256(DATA).hexdigest()
ZIP = zipped(("tool/run", b"#!/bin/sh\necho run\n", stat.S_IFREG | 0o755), ("tool/doc", b"doc"))


@pytest.fixture
def web(target: Target, request: pytest.FixtureRequest) -> Iterator[server.Web]:
    """A web server where the target can reach it."""
    here = target.path("") == Path(target.directory)
    opened = server.Web(address="127.0.0.1" if here else beside(request.getfixturevalue("host")))
    yield opened
    opened.close()


def beside(host: Host) -> str:
    """The controller's address in the lab of a host."""
    return host.address.rsplit(".", 1)[0] + ".1"


def found(target: Target, done: Run, name: str) -> Event:
    """The event of an archive, named relative to the directory."""
    return done.event(f"archive#{target.directory}/{name}")


SITE = f"""\
ccm:
  resources:
    - file:
        - DIR/dl: {{ensure: directory, owner: OWNER, group: GROUP, mode: "0755"}}
    - archive:
        - defaults: {{owner: OWNER, group: GROUP}}
        - DIR/dl/plain.tar.gz: {{url: "URL/app.tar.gz", checksum: {SUM}}}
        - DIR/dl/kept.tgz:
            {{url: "URL/app.tar.gz", extract_parent: DIR/kept, creates: DIR/kept/app/bin/run}}
        - DIR/dl/cleaned.zip:
            {{url: "URL/moved.zip", extract_parent: DIR/cleaned, creates: DIR/cleaned/tool/run,
             cleanup: true}}
        - DIR/dl/old.tar: {{ensure: absent, url: "URL/old.tar"}}
    - exec:
        - run-it: {{command: "DIR/cleaned/tool/run > DIR/ran", creates: DIR/ran, provider: shell}}
"""


def test_download_extract_and_clean_up(target: Target, web: server.Web) -> None:
    """What the preview says is done and no more, as the archive has it, and only once."""
    web.answers.update({"/app.tar.gz": server.content(DATA), "/tool.zip": server.content(ZIP)})
    web.answers["/moved.zip"] = server.redirect("/tool.zip", 308)
    target.write("dl/old.tar", "old")
    site = SITE.replace("URL", web.url(""))
    preview = target.push(site, "--noop")
    assert preview.code == 0, preview.output
    assert web.requests == []
    both = "Would have downloaded. Would have extracted"
    assert found(target, preview, "dl/plain.tar.gz")["noop_message"] == "Would have downloaded"
    assert found(target, preview, "dl/kept.tgz")["noop_message"] == both
    cleaned = found(target, preview, "dl/cleaned.zip")["noop_message"]
    assert cleaned == both + ". Would have cleaned up"
    assert found(target, preview, "dl/old.tar")["noop_message"] == "Would have removed"
    assert target.names() == ["dl"]

    done = target.push(site)
    assert done.code == 0, done.output
    assert target.statuses(done) == target.statuses(preview)
    assert target.names("dl") == ["kept.tgz", "plain.tar.gz"]
    assert target.path("dl/plain.tar.gz").read_bytes() == DATA
    run = target.look("kept/app/bin/run")
    assert run is not None
    assert (run.owner, run.group, run.mode) == (os.getuid(), os.getgid(), 0o755)
    assert target.read("cleaned/tool/doc") == "doc"

    asked = len(web.requests)
    again = target.push(site, "--detailed-exitcode")
    assert again.code == 0, again.output
    assert len(web.requests) == asked


REFUSED = """\
ccm:
  resources:
    - archive:
        - defaults: {owner: OWNER, group: GROUP, extract_parent: DIR/out, creates: DIR/out/good}
        - DIR/hostile.tar.gz: {url: "URL/hostile.tar.gz"}
        - DIR/missing.tar.gz: {url: "URL/missing.tar.gz"}
        - DIR/short.tar.gz: {url: "URL/short.tar.gz"}
        - DIR/slow.tar.gz: {url: "URL/slow.tar.gz", download_timeout: 1s}
    - exec:
        - after: {command: touch DIR/after}
"""


def test_what_is_refused_leaves_nothing(target: Target, web: server.Web) -> None:
    """Bad answers and hostile archives fail their resources, write nothing, and the run goes on."""
    hostile = tar([member("good", b"x"), member("../escaped", b"x")])
    web.answers["/hostile.tar.gz"] = server.content(hostile)
    web.answers["/short.tar.gz"] = server.content(DATA[:99], len(DATA))
    web.answers["/slow.tar.gz"] = server.hanging(DATA[:99])
    done = target.push(REFUSED.replace("URL", web.url("")))
    assert done.code == 1, done.output
    reasons = {"hostile": "leads outside with ..", "missing": "returned status 404"}
    reasons |= {"short": "received 99 of", "slow": "raise download_timeout"}
    for name, reason in reasons.items():
        event = found(target, done, f"{name}.tar.gz")
        assert (event["failed"], event["status"]) == (True, "failed")
        assert reason in event["error"][0]
    assert target.names() == ["after"]
    assert not (target.path("").parent / "escaped").exists()


SECRET = """\
ccm:
  resources:
    - archive:
        - defaults: {owner: OWNER, group: GROUP}
        - DIR/a.tar.gz:
            url: "URL/a.tar.gz"
            username: deploy
            password: "{{ 'pass' + 'word-one' }}"
        - DIR/b.tar.gz:
            url: "URL/b.tar.gz"
            headers: {Authorization: "Bearer {{ 'token-' + 'two' }}", X-Api-Key: key-three}
        - DIR/c.tar.gz:
            url: "USERINFO/c.tar.gz"
        - DIR/d.tar.gz:
            url: "USERINFO/d.tar.gz"
            headers: {X-Api-Key: key-three}
"""


@pytest.mark.parametrize("options", [("-v",), ("--json", "-v"), ("--noop",)])
def test_credentials_stand_in_no_sink(
    target: Target, web: server.Web, options: tuple[str, ...]
) -> None:
    """Password, headers and URL credentials reach the server and no output, event or file."""
    web.answers["/a.tar.gz"] = server.guarded(DATA, "deploy", "password-one")
    web.answers["/b.tar.gz"] = server.content(DATA)
    web.answers["/c.tar.gz"] = server.guarded(DATA, "deploy", "word-four")
    site = SECRET.replace("USERINFO", web.url("", userinfo="deploy:word-four@"))
    site = site.replace("URL", web.url(""))
    done = target.push(site, *options)
    failed = [] if "--noop" in options else ["d.tar.gz"]
    assert [e["name"].rsplit("/", 1)[1] for e in done.events if e["failed"]] == failed, done.output
    scratch = target.ccm.scratch
    sinks = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    sinks["report"] = target.ccm.run("report", "-v").output.encode()
    sinks["events"] = (scratch / "events.jsonl").read_bytes()
    for path in [p for f in ("state", "home") for p in (scratch / f).rglob("*") if p.is_file()]:
        sinks[str(path.relative_to(scratch))] = path.read_bytes()
    for name, content in sinks.items():
        for secret in (b"password-one", b"token-two", b"key-three", b"word-four"):
            assert secret not in content, f"{secret!r} in {name}"
    assert b"[masked]" in sinks["events"]


def test_an_interrupted_download_leaves_nothing(target: Target, web: server.Web) -> None:
    """Ctrl-C in the middle of a download ends it soon and leaves no part of it."""
    web.answers["/a.tar.gz"] = server.hanging(DATA[:99], 60)
    entry = f'{{url: "{web.url("/a.tar.gz")}", owner: OWNER, group: GROUP}}'
    text = f"ccm: {{resources: [{{archive: [{{DIR/a.tar.gz: {entry}}}]}}]}}\n"
    site = target.ccm.site(target.filled(text))
    push = target.ccm.start("push", "-i", str(target.inventory), "-l", "web1", str(site))
    deadline = time.monotonic() + 60
    while not web.requests or not target.names():
        assert time.monotonic() < deadline, "the download does not begin"
        time.sleep(0.05)
    push.send_signal(signal.SIGINT)
    out, err = push.communicate(timeout=60)
    assert push.returncode == 130, out + err
    while target.names():
        assert time.monotonic() < deadline, target.names()
        time.sleep(0.1)


def test_the_hosts_own_authorities(remote: Target, host: Host, tmp_path: Path) -> None:
    """HTTPS is verified with the CAs of the host: unknown is refused, installed is accepted."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make certificates with")
    address = beside(host)
    (tmp_path / "tls").mkdir()
    ca, certificate = server.authority(str(tmp_path / "tls"), f"IP:{address}")
    web = server.Web(certificate, address)
    try:
        web.answers["/a.tar.gz"] = server.content(DATA)
        entry = f'{{url: "{web.url("/a.tar.gz")}", owner: root, group: root}}'
        site = f"ccm: {{resources: [{{archive: [{{DIR/a.tar.gz: {entry}}}]}}]}}\n"
        refused = remote.push(site)
        assert refused.code == 1
        assert "is not trusted" in found(remote, refused, "a.tar.gz")["error"][0]
        host.write("/usr/lib/ssl/cert.pem", Path(ca).read_text(encoding="ascii"))
        done = remote.push(site)
        assert done.code == 0, done.output
        assert remote.path("a.tar.gz").read_bytes() == DATA
    finally:
        web.close()


def test_the_examples_of_the_page(remote: Target, host: Host) -> None:
    """Each example of the type's page does what it says on a host, once."""
    web = server.Web(address=beside(host))
    app = tar([member("app-1.2/bin/app", b"app", mode=0o755)])
    web.answers["/app-1.2.tar.gz"] = server.content(app)
    web.answers["/private.tar.gz"] = server.guarded(DATA, "deploy", "from-the-environment")
    web.answers["/releases/release.zip"] = server.content(ZIP)
    remote.ccm.environment["DOWNLOAD_PASSWORD"] = "from-the-environment"
    examples = list(blocks(DOCS / "reference" / "resources" / "archive.md", "yaml"))
    try:
        for block in examples:
            text = re.sub(r"https://\w+\.example\.com", web.url(""), block.manifest())
            text = re.sub(r"\b[0-9a-f]{64}\b", hashlib.sha256(app).hexdigest(), text)
            assert remote.push(text, "--noop").code == 0
            done = remote.push(text)
            assert done.code == 0, done.output
            assert all(event["changed"] for event in done.events)
            again = remote.push(text, "--detailed-exitcode")
            assert again.code == 0, again.output
    finally:
        web.close()
    assert len(examples) == 2
    assert host.read("/opt/app-1.2/bin/app") == "app"
    assert not host.exists("/opt/app-1.2.tar.gz")
    assert host.exists("/srv/private.tar.gz")


MISTAKES = """\
data: {kind: zip}
ccm:
  resources:
    - exec:
        - touch DIR/ran: {}
    - archive:
        - defaults: {owner: OWNER, group: GROUP}
        - DIR/a.tar.gz: {url: "http://127.0.0.1/a.ENDING"}
"""


@pytest.mark.parametrize("ending", ["zip", "{{ Data.kind }}"])
def test_name_and_url_must_agree(local: Target, ending: str) -> None:
    """A zip URL for a tar.gz name is refused before anything runs, rendered or not."""
    done = local.push(MISTAKES.replace("ENDING", ending))
    assert done.code in (1, 2), done.output
    assert (
        "url is a zip archive, but the name of the resource has the extension of a tar.gz archive"
        in done.output
    )
    assert local.names() == []


def test_all_mistakes_at_once(local: Target) -> None:
    """Every broken rule of the type is in one report, with its line, and no host is contacted."""
    done = local.push(
        "ccm:\n  resources:\n    - archive:\n"
        "        - relative.tar.gz: {url: 'http://h/a.tar.gz', owner: root, group: root}\n"
        "        - /a.rar: {url: 'http://h/a.tar.gz', owner: root, group: root}\n"
        "        - /b.tar.gz: {url: 'ftp://h/a.tar.gz', owner: root, group: root}\n"
        "        - /c.tar.gz: {url: 'http://h/a.tar.gz', owner: root}\n"
        "        - /d.tar.gz: {url: 'http://h/a.tar.gz', owner: root, group: root, cleanup: true}\n"
        "        - /e.tar.gz: {url: 'http://h/a.tar.gz', owner: root, group: root, checksum: abc}\n"
        "        - /f.tar.gz: {url: 'http://u:hunter2@h/a.zip', owner: root, group: root}\n"
    )
    assert done.code == 2, done.output
    for line in range(4, 11):
        assert f"site.yaml:{line}:" in done.output, (line, done.output)
    assert "hunter2" not in done.output
