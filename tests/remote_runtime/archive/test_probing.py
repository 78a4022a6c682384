import base64
import hashlib
from typing import Any, Dict

from tests.remote_runtime.archive.case import ArchiveTest
from tests.remote_runtime.archive.server import redirect, status
from tests.remote_runtime.fakes import item, run_items

DATA = b"anything"
SUM = hashlib.sha256(DATA).hexdigest()
WRONG = "0" * 64


def naming(name: str, value: str) -> Any:
    """An answer with one header."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header(name, value)
        handler.end_headers()

    return answer


class ProbingTest(ArchiveTest):
    """With --probe-urls, a preview asks the server and tells what the download would end in."""

    def probe(self, *before: Any, **properties: Any) -> Dict[str, Any]:
        items = [*before, self.archive(**properties)._replace(index=len(before))]
        return run_items(items, noop=True, probe_urls=True)[-1]

    def test_only_when_asked(self) -> None:
        """Without the option nobody is asked; with it only for the head, and redirects count."""
        self.web.answers["/a.tar.gz"] = redirect("/b.tar.gz")
        self.serve("b.tar.gz", DATA)
        self.assertFalse(self.apply(self.archive(), noop=True)["failed"])
        self.assertEqual(self.web.requests, [])
        event = self.probe()
        self.assertEqual((event["failed"], event["prediction"]), (False, "certain"))
        self.assertEqual([path for path, _ in self.web.requests], ["/a.tar.gz", "/b.tar.gz"])
        self.assertEqual(self.names("dl"), [])

    def test_refused(self) -> None:
        """What the server refuses fails as in the push; one that gives no heads tells nothing."""
        for code in (401, 403, 404, 500):
            self.web.answers["/a.tar.gz"] = status(code)
            told = self.probe()
            self.assertEqual(told["prediction"], "certain")
            self.assertEqual(told["error"], self.apply(self.archive())["error"])
        for code in (405, 501):
            self.web.answers["/a.tar.gz"] = status(code)
            self.assertFalse(self.probe()["failed"])

    def test_checksums(self) -> None:
        """A digest that the server names is held against the one that is wanted."""
        encoded = base64.b64encode(bytes.fromhex(SUM)).decode()
        for name, value in (
            ("X-Checksum-Sha256", SUM.upper()),
            ("Digest", "md5=abc,SHA-256=" + encoded),
            ("Repr-Digest", "sha-512=:abc=:, sha-256=:%s:" % encoded),
        ):
            self.web.answers["/a.tar.gz"] = naming(name, value)
            self.assertFalse(self.probe(checksum=SUM)["failed"])
            told = self.probe(checksum=WRONG)
            self.assertIn("expected %s, got %s" % (WRONG, SUM), told["error"][0])
        for value in ("sha-256=:a:", "sha-256=::", "nonsense"):
            self.web.answers["/a.tar.gz"] = naming("Repr-Digest", value)
            self.assertFalse(self.probe(checksum=WRONG)["failed"])

    def test_what_may_be_mended(self) -> None:
        """Nobody there fails for certain, unless something planned may bring the server."""
        self.web.close()
        told = self.probe()
        self.assertEqual((told["failed"], told["prediction"]), (True, "certain"))
        told = self.probe(item("exec", "true"))
        self.assertEqual((told["failed"], told["prediction"]), (False, "unknown"))
        self.assertIn("checked during the preview", told["prediction_reason"])

    def test_a_server_of_this_host_may_have_it_by_then(self) -> None:
        """Whatever else stands in its address."""
        self.web.answers["/a@example.com"] = status(404)
        told = self.probe(item("exec", "true"), url=self.web.url("/a@example.com"))
        self.assertEqual((told["failed"], told["prediction"]), (False, "unknown"))
        self.assertIn("checked during the preview", told["prediction_reason"])
