import gzip
import hashlib
import os
import stat
import threading
import time
import unittest
from typing import Any, Dict

from remote_runtime.cancellation import Cancelled
from remote_runtime.downloads import response_body
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.resources.download.resource import Resource
from tests.remote_runtime.archive import server
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.fakes import (
    GROUP,
    OWNER,
    ROOT,
    DirectoryTest,
    FailingFiles,
    context,
    item,
    one,
    run_items,
)
from tests.texts import expect_text

DATA = b"#!/bin/sh\necho tool\n" * 50
SUM = hashlib.sha256(DATA).hexdigest()
LONG = hashlib.sha512(DATA).hexdigest()
WRONG = "0" * 64


class DownloadTest(DirectoryTest):
    def setUp(self) -> None:
        super().setUp()
        os.mkdir(self.path("dl"))
        self.web = Web()
        self.addCleanup(self.web.close)
        self.web.answers["/tool"] = content(DATA)

    def download(self, name: str = "tool", index: int = 0, **properties: Any) -> Item:
        properties.setdefault("url", self.web.url("/tool"))
        secrets = tuple(key for key in ("password", "headers") if key in properties)
        return item(
            "download", self.path("dl", name), index, properties=properties, secrets=secrets
        )

    def apply(self, **properties: Any) -> Dict[str, Any]:
        options = {k: properties.pop(k) for k in ("noop", "shared", "files", "probe_urls")
                   if k in properties}  # fmt: skip
        name = properties.pop("name", "tool")
        return one(run_items([self.download(name, **properties)], **options))

    def error(self, **properties: Any) -> str:
        event = self.apply(**properties)
        self.assertEqual(event["status"], "failed", event)
        self.assertEqual([name for name in os.listdir(self.path("dl")) if name[0] == "."], [])
        return "\n".join(event["error"])

    def sums(self, text: str, path: str = "/SHA256SUMS") -> str:
        self.web.answers[path] = content(text.encode())
        return self.web.url(path)

    # -- what is there then -----------------------------------------------------------------------

    def test_what_a_turn_leaves(self) -> None:
        """What is remembered of a turn is what it found, without another look."""
        self.write("dl/tool", DATA)
        resource = Registry(context()).create(self.download(checksum=SUM))
        before = resource.drift_state() or {}
        self.assertEqual(before["checksum"], "sha256:" + SUM)
        resource.state_left = resource.observe()
        self.write("dl/tool", b"other")
        self.assertEqual(resource.drift_state(), before)

    def test_once(self) -> None:
        """A file is downloaded with its attributes, and then nothing is asked for."""
        for given in ({}, {"checksum": SUM.upper()}, {"checksum": "sha512:" + LONG}):
            with self.subTest(given=given):
                event = self.apply(mode="0755", owner=OWNER, group=GROUP, **given)
                self.assertEqual((event["status"], event["error"]), ("changed", []))
                self.assertEqual(self.read("dl/tool"), DATA)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("dl/tool")).st_mode), 0o755)
                asked = len(self.web.requests)
                for noop in (True, False):
                    again = self.apply(mode="0755", owner=OWNER, noop=noop, **given)
                    self.assertEqual(
                        (again["status"], again.get("prediction", "certain")), ("stable", "certain")
                    )
                self.assertEqual(len(self.web.requests), asked)
                os.unlink(self.path("dl/tool"))

    def test_the_mode_of_a_new_file(self) -> None:
        """It is private where it was fetched with credentials."""
        for given, mode in (({}, 0o644), ({"headers": {"X-T": "tok-tok"}}, 0o600)):
            self.apply(**given)
            self.assertEqual(stat.S_IMODE(os.stat(self.path("dl/tool")).st_mode), mode)
            os.unlink(self.path("dl/tool"))

    def test_an_existing_file_stays(self) -> None:
        """Without a checksum, what is there is not asked about; its attributes are set."""
        self.write("dl/tool", b"mine", 0o640)
        self.assertEqual(self.apply()["status"], "stable")
        event = self.apply(mode="0600")
        self.assertEqual(
            [(c["what"], c["from"], c["to"]) for c in event["changes"]], [("mode", "0640", "0600")]
        )
        self.assertEqual((self.read("dl/tool"), self.web.requests), (b"mine", []))

    def test_another_checksum(self) -> None:
        """The file is replaced, keeps its mode, and the change names both."""
        self.write("dl/tool", b"old", 0o640)
        event = self.apply(checksum=SUM)
        old = hashlib.sha256(b"old").hexdigest()
        self.assertEqual(
            event["changes"], [{"what": "checksum", "from": "sha256:" + old, "to": "sha256:" + SUM}]
        )
        self.assertEqual(self.read("dl/tool"), DATA)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("dl/tool")).st_mode), 0o640)

    def test_refused_by_its_checksum(self) -> None:
        """What the server sends is refused; what was there stays."""
        self.write("dl/tool", b"old")
        message = self.error(checksum=WRONG)
        self.assertIn(
            "checksum mismatch for %s: expected %s, got %s" % (self.path("dl/tool"), WRONG, SUM),
            message,
        )
        self.assertEqual(self.read("dl/tool"), b"old")

    def test_force(self) -> None:
        """Each push compares; a file that is the same is no change."""
        self.write("dl/tool", b"old")
        self.assertEqual(self.apply(force=True)["status"], "changed")
        self.assertEqual(self.read("dl/tool"), DATA)
        before = os.stat(self.path("dl/tool"))
        self.assertEqual(self.apply(force=True)["status"], "stable")
        self.assertEqual(os.stat(self.path("dl/tool")).st_ino, before.st_ino)
        event = self.apply(force=True, noop=True)
        self.assertEqual((event["prediction"], event["status"]), ("unknown", "stable"))
        self.assertIn("only a push reads ", event["prediction_reason"])

    def test_absent(self) -> None:
        """A file and a symlink are removed, a directory is not."""
        self.write("dl/tool")
        for expected in ("changed", "stable"):
            self.assertEqual(self.apply(ensure="absent")["status"], expected)
        os.symlink("/etc/passwd", self.path("dl/tool"))
        self.assertEqual(self.apply(ensure="absent")["status"], "changed")
        os.mkdir(self.path("dl/tool"))
        expect_text(self.error(ensure="absent"), self)

    def test_what_is_at_the_path(self) -> None:
        """A symlink is replaced and not written through; a directory and a pipe are refused."""
        self.write("target", b"target")
        os.symlink(self.path("target"), self.path("dl/tool"))
        event = self.apply(noop=True)
        self.assertEqual((event["status"], event["prediction"]), ("changed", "certain"))
        self.apply()
        self.assertFalse(os.path.islink(self.path("dl/tool")))
        self.assertEqual((self.read("target"), self.read("dl/tool")), (b"target", DATA))
        os.unlink(self.path("dl/tool"))
        os.mkfifo(self.path("dl/tool"))
        for noop in (True, False):
            self.assertIn("not a file", self.error(noop=noop))
        os.unlink(self.path("dl/tool"))
        os.mkdir(self.path("dl/tool"))
        for noop in (True, False):
            expect_text(self.error(noop=noop), self)
            self.assertIn("parent directory", self.error(name="no/tool", noop=noop))

    @unittest.skipUnless(ROOT, "only root gives files away")
    def test_links_of_other_users(self) -> None:
        """A directory that a link of another user leads to is not written to."""
        os.mkdir(self.path("theirs"))
        os.chmod(self.root, 0o755)
        os.chown(self.path("theirs"), 4711, 4711)
        os.symlink(self.path("dl"), self.path("theirs/link"))
        os.chown(self.path("theirs/link"), 4711, 4711, follow_symlinks=False)
        name = self.path("theirs", "link", "tool")
        for noop in (True, False):
            resource = item("download", name, properties={"url": self.web.url("/tool")})
            event = one(run_items([resource], noop=noop))
            self.assertEqual(event["status"], "failed", event)
        self.assertEqual(os.listdir(self.path("dl")), [])

    @unittest.skipUnless(ROOT, "only root gives files away")
    def test_owners(self) -> None:
        """By name or number; a change of owner alone downloads nothing."""
        self.apply(owner="4711", group="4712")
        found = os.stat(self.path("dl/tool"))
        self.assertEqual((found.st_uid, found.st_gid), (4711, 4712))
        asked = len(self.web.requests)
        event = self.apply(owner=OWNER, group="4712")
        self.assertEqual([c["what"] for c in event["changes"]], ["owner"])
        self.assertEqual(len(self.web.requests), asked)
        for noop in (True, False):
            expect_text(self.error(owner="nobody-such", noop=noop), self)

    # -- checksum files -----------------------------------------------------------------------

    def test_listed(self) -> None:
        """The checksum comes from the file beside it, asked for once in a run."""
        url = self.sums("%s  other\n%s *./bin/tool\n" % (WRONG, SUM))
        self.assertEqual(self.apply(checksum_url=url)["status"], "changed")
        self.assertEqual(self.apply(checksum_url=url)["status"], "stable")
        self.write("dl/tool", b"old")
        items = [self.download(checksum_url=url), self.download("b", 1, checksum_url=url)]
        before = len(self.web.requests)
        self.assertEqual([e["status"] for e in run_items(items)], ["changed", "changed"])
        paths = [path for path, _ in self.web.requests[before:]]
        self.assertEqual(sorted(paths), ["/SHA256SUMS", "/tool", "/tool"])

    def test_listed_wrong(self) -> None:
        """A file for another name, of other content, that is missing or a page: all refused."""
        for text, word in (
            ("%s  other\n" % SUM, "has no checksum for tool: it names other"),
            ("%s  tool\n" % WRONG, "checksum mismatch"),
            ("<html>not here</html>", "contains no SHA-256 or SHA-512 checksum"),
            ("%s  a/tool\n%s  b/tool\n" % (SUM, WRONG), "2 checksums for tool"),
        ):
            self.assertIn(word, self.error(checksum_url=self.sums(text)))
        self.assertIn("status 404", self.error(checksum_url=self.web.url("/none")))

    def test_preview_of_a_list(self) -> None:
        """A new file is certain; whether one that is there will do is not known."""
        url = self.sums("%s  tool\n" % SUM)
        event = self.apply(checksum_url=url, noop=True)
        self.assertEqual((event["status"], event["prediction"]), ("changed", "certain"))
        self.write("dl/tool", DATA)
        event = self.apply(checksum_url=url, noop=True)
        self.assertEqual((event["prediction"], event["status"]), ("unknown", "stable"))
        self.assertIn("only a push reads the checksum file", event["prediction_reason"])
        self.assertEqual(self.web.requests, [])

    def test_credentials_stay_on_their_server(self) -> None:
        """Another server does not receive them, for a checksum file or after a redirect."""
        other = Web(address="127.0.0.2")
        self.addCleanup(other.close)
        other.answers["/SHA256SUMS"] = content(("%s  tool\n" % SUM).encode())
        other.answers["/tool"] = content(DATA)
        self.web.answers["/tool"] = server.redirect(other.url("/tool"))
        event = self.apply(
            checksum_url=other.url("/SHA256SUMS"),
            username="u",
            password="pass-word",
            headers={"X-Token": "tok-token"},
        )
        self.assertEqual(event["status"], "changed", event)
        for _, headers in other.requests:
            self.assertFalse({"authorization", "x-token"} & set(headers))
        self.assertIn("authorization", self.web.requests[0][1])

    # -- servers ----------------------------------------------------------------------------------

    def test_bad_servers(self) -> None:
        """Each leaves nothing, and its error says what the server did."""
        web = self.web
        loop = server.redirect(web.url("/tool"))

        def ever(handler: Any) -> None:
            handler.send_response(200)
            handler.end_headers()
            try:
                while True:
                    handler.wfile.write(b"x" * 65536)
            except OSError:
                pass  # the client has had enough

        for answer, word, given in (
            (loop, "exceeded 10 redirects", {}),
            (server.redirect("file:///etc/passwd"), "not http or https", {}),
            (server.redirect("ftp://127.0.0.1/x"), "not http or https", {}),
            (server.redirect(""), "without a location", {}),
            (server.status(404), "status 404", {}),
            (server.status(500), "status 500", {}),
            (content(DATA, len(DATA) + 10), "received %d of" % len(DATA), {}),
            (content(DATA, 5), "checksum mismatch", {"checksum": SUM}),
            (server.chunked(DATA, whole=False), "invalid HTTP response", {}),
            (server.garbage, "invalid HTTP response", {}),
            (server.hanging(b"x"), "took longer than 0.3 s (raise timeout)", {"timeout": "300ms"}),
            (ever, "sends more than 1048576 bytes", {"max_size": "1MiB"}),
            (content(DATA * 10), "sends more than 1024 bytes", {"max_size": "1KiB"}),
        ):
            web.answers["/tool"] = answer
            with self.subTest(word):
                error = self.error(**given)
                self.assertIn(word, error)
                self.assertNotIn("extract_max_size", error)  # which only archives have
                self.assertEqual(os.listdir(self.path("dl")), [])

    def test_encoded(self) -> None:
        """What a server zips on its own is unzipped; what is named .gz is kept; else refused."""

        def encoded(coding: str, data: bytes) -> server.Answer:
            def answer(handler: Any) -> None:
                handler.send_response(200)
                handler.send_header("Content-Encoding", coding)
                handler.send_header("Content-Length", str(len(data)))
                handler.end_headers()
                handler.wfile.write(data)

            return answer

        zipped = gzip.compress(DATA * 2000)
        self.web.answers["/tool"] = encoded("gzip", zipped)
        self.assertEqual(self.apply()["status"], "changed")
        self.assertEqual(self.read("dl/tool"), DATA * 2000)
        os.unlink(self.path("dl/tool"))
        self.assertIn("sends more than", self.error(max_size="4KiB"))
        self.web.answers["/tool"] = encoded("gzip", zipped[:-20])
        self.assertIn("interrupted: its gzip data is truncated", self.error())
        self.web.answers["/tool"] = encoded("gzip", DATA)
        self.assertIn("gzip data is corrupt", self.error())
        self.web.answers["/tool"] = encoded("br", zipped)
        self.assertIn("is encoded as br", self.error())
        self.web.answers["/tool.tar.gz"] = encoded("x-gzip", zipped)
        self.apply(url=self.web.url("/tool.tar.gz"))
        self.assertEqual(self.read("dl/tool"), zipped)
        self.web.answers["/latest"] = server.redirect("/tool.tar.gz")
        self.apply(name="latest", url=self.web.url("/latest"))
        self.assertEqual(self.read("dl/latest"), zipped)
        for blocks in (1, 2):  # it ends where a block of what is decoded does
            plain = b"x" * (blocks * response_body.BLOCK)
            self.web.answers["/x"] = encoded("gzip", gzip.compress(plain))
            event = self.apply(name="x%d" % blocks, url=self.web.url("/x"))
            self.assertEqual(event["error"], [])
            self.assertEqual(self.read("dl/x%d" % blocks), plain)

    def test_tries(self) -> None:
        """What fails on the way is tried again; the event says how often."""
        waiting = [server.status(503), content(DATA[:9], len(DATA))]
        self.web.answers["/tool"] = lambda handler: (waiting.pop(0) if waiting else content(DATA))(
            handler
        )
        event = self.apply(tries=5, try_sleep="1ms", checksum=SUM)
        self.assertEqual((event["status"], event["tries"]), ("changed", 3))
        self.web.answers["/tool"] = server.status(404)
        event = self.apply(name="b", tries=5, try_sleep="1h")
        self.assertEqual((event["status"], event["tries"]), ("failed", 1))

    def test_cancelled(self) -> None:
        """A run that ends ends a download at once, and leaves nothing."""
        self.web.answers["/tool"] = server.hanging(DATA[:50])
        shared = context()
        timer = threading.Timer(0.3, shared.cancellation.set, ["enough"])
        timer.start()
        begin = time.time()
        try:
            with self.assertRaises(Cancelled):
                self.apply(shared=shared)
        finally:
            timer.join()
        self.assertLess(time.time() - begin, 20)
        self.assertEqual(os.listdir(self.path("dl")), [])

    def test_full_disk(self) -> None:
        """A full disk fails the resource and leaves nothing."""
        expect_text(self.error(files=FailingFiles()), self)

    # -- previews ---------------------------------------------------------------------------------

    def test_preview(self) -> None:
        """It asks no server, and knows the file with a checksum afterwards."""
        path = self.path("dl/tool")
        checked = self.download(checksum=SUM, mode="0700")
        unchecked = self.download("b", 1)
        copies = [
            self.file("copy", 2, source=path),
            self.file("copy-b", 3, source=self.path("dl/b")),
            item("exec", path, 4),
        ]
        events = run_items([checked, unchecked, *copies], noop=True)
        self.assertEqual(
            [e["prediction"] for e in events],
            ["certain", "certain", "certain", "unknown", "certain"],
        )
        expect_text(events[0]["noop_message"], self)
        to = [c["to"] for c in events[2]["changes"] if c["what"] == "content"]
        self.assertEqual(to, ["sha256:" + SUM])
        self.assertEqual((self.web.requests, os.listdir(self.path("dl"))), ([], []))

    def test_preview_that_asks(self) -> None:
        """With --probe-urls the server says whether it has the file."""
        self.assertEqual(self.apply(noop=True, probe_urls=True)["status"], "changed")
        self.assertEqual(len(self.web.requests), 1)
        del self.web.answers["/tool"]
        event = self.apply(noop=True, probe_urls=True)
        self.assertEqual(event["status"], "failed")
        self.assertIn("status 404", event["error"][0])
        planned = self.file("made", content="x")
        event = run_items([planned, self.download(index=1)], noop=True, probe_urls=True)[1]
        self.assertEqual((event["prediction"], event["failed"]), ("unknown", False))

    def test_secrets(self) -> None:
        """Nothing of headers, passwords and credentials of URLs is in an event or an error."""
        url = self.web.url("/none", userinfo="deploy:hunter2secret@")
        for given in (
            {"url": url},
            {"url": self.web.url("/none") + "?token=tokentoken1"},
            {"checksum_url": url},
            {"url": self.web.url("/none"), "username": "u", "password": "hunter2secret"},
            {"url": self.web.url("/none"), "headers": {"Authorization": "Bearer hunter2secret"}},
        ):
            for noop in (False, True):
                told = str(self.apply(noop=noop, **given))
                self.assertNotIn("hunter2secret", told)
                self.assertNotIn("tokentoken1", told)

    def test_status(self) -> None:
        """ccm status needs the name only."""
        self.write("dl/tool", DATA, 0o640)
        event = one(run_items([item("download", self.path("dl/tool"))], status_only=True))
        self.assertEqual(event["error"], [])
        self.assertEqual((event["final_ensure"], event["properties"]["mode"]), ("present", "0640"))

    def test_rules(self) -> None:
        """Bad values are refused where they stand."""
        good = {"url": "https://example.com/x"}
        for name, properties, key in (
            ("tool", good, "name"),
            ("/a/../b", good, "name"),
            ("/", good, "name"),
            ("/x", {"url": "ftp://example.com/x"}, "url"),
            ("/x", {"url": "file:///etc/passwd"}, "url"),
            ("/x", {"url": "/etc/passwd"}, "url"),
            ("/x", {"url": "https://"}, "url"),
            ("/x", {"url": "https://h:port/x"}, "url"),
            ("/x", {"url": "https://example.com/a b"}, "url"),
            ("/x", {"url": "https://a@b@example.com/"}, "url"),
            ("/x", dict(good, checksum="abc"), "checksum"),
            ("/x", dict(good, checksum="md5:" + "0" * 32), "checksum"),
            ("/x", dict(good, checksum="sha512:" + WRONG), "checksum"),
            ("/x", dict(good, checksum="sha256:https://example.com/S"), "checksum"),
            ("/x", dict(good, checksum_url="SHA256SUMS"), "checksum_url"),
            ("/x", dict(good, checksum=SUM, checksum_url="https://example.com/S"), "checksum_url"),
            ("/x", dict(good, password="p"), "password"),
            ("/x", dict(good, username="a:b"), "username"),
            ("/x", dict(good, headers={"Host": "x"}), "headers"),
            ("/x", dict(good, headers={"X": "a\nb"}), "headers"),
            ("/x", dict(good, mode="0999"), "mode"),
            ("/x", dict(good, mode="17777"), "mode"),
            ("/x", dict(good, timeout="soon"), "timeout"),
            ("/x", dict(good, timeout="0"), "timeout"),
            ("/x", dict(good, max_size="much"), "max_size"),
            ("/x", dict(good, try_sleep="5"), "try_sleep"),
        ):
            found = Resource.check(name, properties)
            self.assertEqual({k for k, _ in found}, {key}, (name, properties, found))
        self.assertEqual(Resource.check("/x", dict(good, checksum="SHA-256:" + SUM)), [])
        self.assertEqual(Resource.warnings("/x", dict(good, force=True)), [])
        ((key, message, _),) = Resource.warnings("/x", dict(good, force=True, checksum=SUM))
        self.assertEqual((key, "no effect" in message), ("force", True))


if __name__ == "__main__":
    unittest.main()
