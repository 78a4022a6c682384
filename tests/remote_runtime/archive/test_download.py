import errno
import hashlib
import os
import shutil
import stat
import threading
import time
from typing import Any, List, Optional
from unittest import mock

from remote_runtime.cancellation import Cancelled
from remote_runtime.resources.archive import resource
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.files import Files
from remote_runtime.system.temporary_file import Temporary
from tests.remote_runtime.archive import server
from tests.remote_runtime.archive.case import ArchiveTest
from tests.remote_runtime.archive.making import APP, member, tar
from tests.remote_runtime.fakes import ROOT, FailingFiles, context, item, one, run_items
from tests.texts import expect_text

DATA = tar(APP)
SUM = hashlib.sha256(DATA).hexdigest()
WRONG = "0" * 64


class DownloadTest(ArchiveTest):
    def setUp(self) -> None:
        super().setUp()
        self.serve("a.tar.gz", DATA)

    def test_more_than_the_limit(self) -> None:
        """A server that sends without end is cut off; `extract_max_size` raises the limit."""
        with mock.patch.object(resource, "_LARGEST", 10):
            error = self.error(self.archive(extract_max_size="9B"))
            self.assertIn("sends more than 10 bytes", error)
            self.assertEqual(self.names("dl"), [])
            self.assertTrue(self.apply(self.archive(extract_max_size="1MiB"))["changed"])

    def test_downloaded_once(self) -> None:
        """An archive is downloaded with its owner and mode, and then nothing is asked for."""
        event = self.apply(self.archive())
        self.assertEqual((event["changed"], event["error"]), (True, []))
        self.assertEqual((event["final_ensure"], event["provider"]), ("present", "http"))
        self.assertEqual(self.read("dl/a.tar.gz"), DATA)
        found = os.stat(self.path("dl/a.tar.gz"))
        self.assertEqual((stat.S_IMODE(found.st_mode), found.st_uid), (0o600, os.geteuid()))
        self.assertEqual(self.apply(self.archive())["status"], "stable")
        self.assertEqual(len(self.web.requests), 1)
        self.assertEqual(self.names("dl"), ["a.tar.gz"])

    def test_checksum(self) -> None:
        """A checksum in any case is accepted; what differs is refused with both sums."""
        self.assertFalse(self.apply(self.archive(checksum=SUM.upper()))["failed"])
        self.assertEqual(self.apply(self.archive(checksum=SUM))["status"], "stable")
        self.serve("b.tar.gz", DATA)
        message = self.error(self.archive("b.tar.gz", checksum=WRONG))
        self.assertIn("desired state not achieved: checksum mismatch", message)
        self.assertIn("expected %s, got %s" % (WRONG, SUM), message)
        self.assertEqual(self.names("dl"), ["a.tar.gz"])

    def test_drift(self) -> None:
        """A file with another checksum is replaced and keeps its mode, and the change says so."""
        self.write("dl/a.tar.gz", b"old", 0o640)
        event = self.apply(self.archive(checksum=SUM))
        self.assertEqual([c["what"] for c in event["changes"]], ["checksum"])
        self.assertEqual(event["changes"][0]["to"], "sha256:" + SUM)
        self.assertEqual(self.read("dl/a.tar.gz"), DATA)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("dl/a.tar.gz")).st_mode), 0o640)

    def test_a_failed_replacement_leaves_the_old(self) -> None:
        """An archive that is there stays as it is when its successor is refused."""
        self.write("dl/a.tar.gz", b"old")
        self.error(self.archive(checksum=WRONG))
        self.assertEqual(self.read("dl/a.tar.gz"), b"old")
        self.assertEqual(self.names("dl"), ["a.tar.gz"])

    def test_another_owner(self) -> None:
        """Another owner or group than wanted makes a new download, as the documents say."""
        self.apply(self.archive())
        event = self.apply(self.archive(owner="4711", group="4712"), noop=True)
        expect_text(event["noop_message"], self)
        self.assertEqual([c["what"] for c in event["changes"]], ["owner", "group"])
        if ROOT:
            self.apply(self.archive(owner="4711", group="4712"))
            found = os.stat(self.path("dl/a.tar.gz"))
            self.assertEqual((found.st_uid, found.st_gid), (4711, 4712))
            self.assertEqual(len(self.web.requests), 2)

    def test_a_symlink_is_replaced(self) -> None:
        """A symlink in the archive's place is replaced and never written through."""
        self.write("victim", b"safe")
        os.symlink(self.path("victim"), self.path("dl/a.tar.gz"))
        self.assertEqual(self.apply(self.archive())["changes"][0]["from"], "symlink")
        self.assertEqual((self.read("victim"), self.read("dl/a.tar.gz")), (b"safe", DATA))

    def test_absent(self) -> None:
        """Absent removes the archive, and never a directory in its place."""
        self.write("dl/a.tar.gz")
        gone = self.archive(ensure="absent")
        expect_text(self.apply(gone, noop=True)["noop_message"], self)
        self.assertTrue(self.apply(gone)["changed"])
        self.assertEqual((self.names("dl"), self.web.requests), ([], []))
        self.assertEqual(self.apply(gone)["status"], "stable")
        os.mkdir(self.path("dl/a.tar.gz"))
        self.assertIn("is a directory", self.error(gone))

    def test_answers_that_are_no_archive(self) -> None:
        """Each bad answer is an error that says what was wrong, and nothing is left behind."""
        cases = [
            (server.status(404), "returned status 404"),
            (server.status(401), "returned status 401"),
            (server.status(503), "returned status 503"),
            (server.status(206), "returned status 206"),
            (server.content(DATA[:100], len(DATA)), "received 100 of %d bytes" % len(DATA)),
            (server.chunked(DATA, False), "was interrupted|invalid HTTP|IncompleteRead"),
            (server.garbage, "an invalid HTTP response"),
            (server.redirect(""), "without a location"),
            (server.redirect("ftp://example.com/a.tar.gz"), "a URL that is not http or https"),
            (server.redirect("file:///etc/passwd"), "a URL that is not http or https"),
            (server.redirect("http://[broken/a.tar.gz"), "a URL that is not http or https"),
            (server.redirect("/a.tar.gz"), "exceeded 10 redirects"),
        ]
        for answer, expected in cases:
            self.web.answers["/a.tar.gz"] = answer
            self.assertRegex(self.error(self.archive()), expected)
            self.assertEqual(self.names("dl"), [])

    def test_nobody_there(self) -> None:
        """A refused connection and an unknown host are told as such."""
        closed = server.Web()
        closed.close()
        refused = self.error(self.archive(url=closed.url("/a.tar.gz")))
        self.assertIn("Connection refused", refused)
        unknown = self.error(self.archive(url="http://no-such-host.invalid/a.tar.gz"))
        expect_text(unknown, self)

    def test_chunked(self) -> None:
        """An answer without a length is complete when its last chunk has arrived."""
        self.web.answers["/a.tar.gz"] = server.chunked(DATA)
        self.assertFalse(self.apply(self.archive(checksum=SUM))["failed"])

    def test_empty(self) -> None:
        """An archive of no bytes is downloaded like any other."""
        self.serve("a.tar.gz", b"")
        self.assertFalse(self.apply(self.archive())["failed"])
        self.assertEqual(self.read("dl/a.tar.gz"), b"")

    def test_timeout(self) -> None:
        """A server that falls silent ends with the limit, and the setting that raises it."""
        self.web.answers["/a.tar.gz"] = server.hanging(DATA[:50])
        begin = time.time()
        message = self.error(self.archive(download_timeout="300ms"))
        self.assertLess(time.time() - begin, 5)
        expect_text(message, self)
        self.assertEqual(self.names("dl"), [])

    def flaky(self, *answers: server.Answer) -> None:
        """One answer after the other, the last one again and again."""
        waiting = list(answers)

        def answer(handler: Any) -> None:
            (waiting.pop(0) if len(waiting) > 1 else waiting[0])(handler)

        self.web.answers["/a.tar.gz"] = answer

    def test_tries(self) -> None:
        """What fails on the way is tried again, each time with the whole limit."""
        self.flaky(
            server.status(503),
            server.hanging(DATA[:50], 1.0),
            server.content(DATA[:50], len(DATA)),
            server.garbage,
            server.content(DATA),
        )
        resource = self.archive(tries=9, try_sleep="1ms", download_timeout="800ms", checksum=SUM)
        event = self.apply(resource)
        self.assertEqual((event["status"], event["tries"]), ("changed", 5), event)
        self.assertEqual(self.names("dl"), ["a.tar.gz"])
        self.assertNotIn("tries", self.apply(resource))
        self.flaky(server.status(429))
        event = self.apply(self.archive(tries=2, try_sleep="1ms", checksum=WRONG))
        self.assertIn("returned status 429", event["error"][0])
        self.assertIn(" (2 tries) (try again later)", event["error"][0])

    def test_what_no_try_helps(self) -> None:
        """A refusal, another checksum and a certificate are final at once."""
        self.flaky(server.status(404))
        event = self.apply(self.archive(tries=3, try_sleep="1h"))
        self.assertEqual((event["status"], event["tries"]), ("failed", 1))
        self.flaky(server.content(DATA))
        event = self.apply(self.archive(tries=3, try_sleep="1h", checksum=WRONG))
        self.assertEqual((event["status"], event["tries"]), ("failed", 1))

    def test_cancelled(self) -> None:
        """A run that is ended ends a download at once and leaves nothing in place."""
        self.web.answers["/a.tar.gz"] = server.hanging(DATA[:50])
        shared = context()
        timer = threading.Timer(0.3, shared.cancellation.set, ["enough"])
        timer.start()
        begin = time.time()
        try:
            with self.assertRaises(Cancelled):
                run_items([self.archive()], shared=shared)
        finally:
            timer.join()
        self.assertLess(time.time() - begin, 5)
        self.assertEqual(self.names("dl"), [])

    def test_full_disk(self) -> None:
        """A full disk fails the resource and leaves nothing behind."""
        message = self.error(self.archive(), files=FailingFiles())
        expect_text(message, self)
        self.assertEqual(self.names("dl"), [])

    def test_private_until_it_is_whole(self) -> None:
        """While it arrives it has another name beside its own and is nobody else's to read."""
        seen: List[Any] = []

        def look(index: int, said: str) -> None:
            for name in self.names("dl"):
                seen.append((name == "a.tar.gz", os.stat(self.path("dl", name)).st_mode & 0o777))

        run_items([self.archive()], on_progress=look)
        self.assertTrue(seen)
        self.assertEqual(set(seen), {(False, 0o600)})

    def test_not_renamed(self) -> None:
        """A download that cannot be put in its place fails, and nothing is left behind."""

        class Unmovable(Temporary):
            def commit(self) -> None:
                raise failure("replace", self._target, OSError(errno.EBUSY, "busy"))

        class Stuck(Files):
            def temporary(self, path: str, beside: Optional[Temporary] = None) -> Temporary:
                return Unmovable(
                    path, self.place(path, "write"), registered=self._temporary, unique="ccm-x"
                )

        expect_text(self.error(self.archive(), files=Stuck()), self)
        self.assertEqual(self.names("dl"), [])

    def test_what_was_not_achieved(self) -> None:
        """An archive is looked at once more after what was done."""

        class Keeping(Files):
            def remove(self, path: str) -> None:
                pass

        self.write("dl/a.tar.gz")
        message = self.error(self.archive(ensure="absent"), files=Keeping())
        expect_text(message, self)

    def test_progress(self) -> None:
        """While it downloads it says how far it is."""
        said: List[Any] = []
        run_items([self.archive()], on_progress=lambda index, action: said.append(action))
        self.assertTrue(said)
        self.assertTrue(all(line.startswith("downloading " + self.root) for line in said), said)

    def test_preview(self) -> None:
        """A preview contacts nobody; a parent directory that is planned counts as there."""
        event = self.apply(self.archive(), noop=True)
        expect_text(event["noop_message"], self)
        self.assertEqual((event["prediction"], self.web.requests), ("certain", []))
        below = self.archive("new/a.tar.gz", url=self.web.url("/a.tar.gz"))
        expect_text(self.error(below), self)
        expect_text(self.error(below, noop=True), self)
        directory = self.file("dl/new", ensure="directory")
        planned = run_items([directory, below._replace(index=1)], noop=True)[1]
        self.assertEqual((planned["failed"], planned["prediction"]), (False, "certain"))

    def test_preview_of_an_owner(self) -> None:
        """An unknown owner fails, behind a pending command its prediction is unknown."""
        resource = self.archive(owner="ccm-no-such-user")
        expect_text(self.error(resource), self)
        event = run_items([item("exec", "true"), resource._replace(index=1)], noop=True)[1]
        self.assertEqual((event["failed"], event["prediction"]), (False, "unknown"))
        expect_text(event["noop_message"], self)


class AccessTest(ArchiveTest):
    def test_basic_authentication(self) -> None:
        """Credentials of the properties or the URL are sent; without them 401 says what to do."""
        self.web.answers["/a.tar.gz"] = server.guarded(DATA, "deploy", "p@ss/w:rd")
        hidden = self.web.url("/a.tar.gz", userinfo="deploy:p%40ss%2Fw%3Ard@")
        wrong = self.web.url("/a.tar.gz", userinfo="other:wrong@")
        for properties in (
            {"username": "deploy", "password": "p@ss/w:rd"},
            {"url": hidden},
            {"url": wrong, "username": "deploy", "password": "p@ss/w:rd"},
        ):
            self.assertFalse(self.apply(self.archive(**properties))["failed"])
            os.unlink(self.path("dl/a.tar.gz"))
        self.assertIn("check username and password", self.error(self.archive()))

    def test_headers(self) -> None:
        """Headers go with the request, and the archive is asked for as it is."""
        self.serve("a.tar.gz", DATA)
        self.apply(self.archive(headers={"Authorization": "Bearer abcdef", "X-Token": "t0ken"}))
        sent = self.web.requests[0][1]
        self.assertEqual((sent["authorization"], sent["x-token"]), ("Bearer abcdef", "t0ken"))
        self.assertEqual(sent["accept-encoding"], "identity")

    def test_redirects(self) -> None:
        """Every kind of redirect is followed on the same host, with credentials and headers."""
        self.serve("real.tar.gz", DATA)
        for code in (301, 302, 303, 307, 308):
            to = "/real.tar.gz?x=1" if code % 2 else self.web.url("/real.tar.gz")
            self.web.answers["/a.tar.gz"] = server.redirect(to, code)
            event = self.apply(self.archive(username="deploy", password="pass1234"))
            self.assertFalse(event["failed"], event)
            self.assertIn("authorization", self.web.requests[-1][1])
            os.unlink(self.path("dl/a.tar.gz"))

    def test_redirect_to_another_host(self) -> None:
        """Another host, or another port of it, gets neither credentials nor headers."""
        other = server.Web()
        self.addCleanup(other.close)
        other.answers["/b"] = server.content(DATA)
        for to in (other.url("/b"), other.url("/b", "localhost")):
            self.web.answers["/a.tar.gz"] = server.redirect(to)
            self.apply(self.archive(username="deploy", password="pass1234", headers={"X-T": "tok"}))
            self.assertEqual(self.read("dl/a.tar.gz"), DATA)
            os.unlink(self.path("dl/a.tar.gz"))
            self.assertIn("x-t", self.web.requests[-1][1])
            self.assertFalse({"x-t", "authorization"} & set(other.requests[-1][1]))

    def test_proxy(self) -> None:
        """The proxy of the login's environment is used, with its credentials."""
        url = "http://no-such-host.invalid/a.tar.gz"
        self.web.answers[url] = server.content(DATA)
        os.environ["http_proxy"] = self.web.url("", userinfo="proxy:pass5678@")
        self.addCleanup(os.environ.pop, "http_proxy")
        self.assertEqual(self.apply(self.archive(url=url))["error"], [])
        self.assertEqual(self.read("dl/a.tar.gz"), DATA)
        self.assertIn("proxy-authorization", self.web.requests[0][1])

    def test_nothing_secret_in_an_event(self) -> None:
        """Password, headers, URL credentials and queries stand in no event, failed or not."""
        url = self.web.url("/a.tar.gz?sig=query-token", userinfo="user:url-password@")
        self.web.answers["/a.tar.gz"] = server.garbage
        said: List[Any] = []
        secret = self.archive(
            url=url,
            username="deploy",
            password="the-password",
            headers={"X-Token": "header-token"},
        )
        event = one(run_items([secret], on_progress=lambda index, action: said.append(action)))
        self.assertTrue(event["failed"])
        text = repr(event) + repr(said)
        for word in ("url-password", "the-password", "header-token"):
            self.assertNotIn(word, text)
        self.assertNotIn("query-token", "".join(event["error"]))


class TlsTest(ArchiveTest):
    def setUp(self) -> None:
        super().setUp()
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make certificates with")
        self.ca, certificate = server.authority(self.root)
        self.secure = server.Web(certificate)
        self.addCleanup(self.secure.close)
        self.secure.answers["/a.tar.gz"] = server.content(DATA)
        self.trust(self.ca)

    def trust(self, ca: str) -> None:
        """Make this the system's only CA, as OpenSSL lets its environment say."""
        before = os.environ.get("SSL_CERT_FILE")
        os.environ["SSL_CERT_FILE"] = ca
        self.addCleanup(os.environ.__setitem__, "SSL_CERT_FILE", before or "")

    def tearDown(self) -> None:
        if not os.environ.get("SSL_CERT_FILE"):
            os.environ.pop("SSL_CERT_FILE", None)

    def test_verified(self) -> None:
        """A certificate of a CA of the system is accepted."""
        event = self.apply(self.archive(url=self.secure.url("/a.tar.gz", "localhost")))
        self.assertEqual(event["error"], [])
        self.assertEqual(self.read("dl/a.tar.gz"), DATA)

    def test_not_trusted(self) -> None:
        """An unknown CA and another host's certificate are refused, and the error says which."""
        for url, ca in (
            (self.secure.url("/a.tar.gz", "localhost"), self.write("empty.pem")),
            (self.secure.url("/a.tar.gz", "127.0.0.1"), self.ca),
        ):
            os.environ["SSL_CERT_FILE"] = ca
            message = self.error(self.archive(url=url))
            self.assertIn("the certificate of https://", message)
            self.assertIn("is not trusted", message)
        self.assertEqual(self.names("dl"), [])

    def test_no_tls_at_all(self) -> None:
        """A server that does not speak TLS is told as such."""
        message = self.error(self.archive(url=self.web.url("/a.tar.gz").replace("http", "https")))
        self.assertIn("TLS with https://127.0.0.1", message)

    def test_downgrade(self) -> None:
        """A redirect from https to http is followed only where a checksum holds the content."""
        self.serve("plain.tar.gz", DATA)
        self.secure.answers["/a.tar.gz"] = server.redirect(self.web.url("/plain.tar.gz"))
        url = self.secure.url("/a.tar.gz", "localhost")
        self.assertIn("redirects from https to http", self.error(self.archive(url=url)))
        self.assertFalse(self.apply(self.archive(url=url, checksum=SUM))["failed"])

    def test_cut_off(self) -> None:
        """A TLS connection that ends early is noticed as well."""
        whole = tar([member("x", os.urandom(500000))])
        self.secure.answers["/a.tar.gz"] = server.content(whole[:300000], len(whole))
        message = self.error(self.archive(url=self.secure.url("/a.tar.gz", "localhost")))
        self.assertRegex(message, "was interrupted|could not download|TLS")
        self.assertEqual(self.names("dl"), [])
