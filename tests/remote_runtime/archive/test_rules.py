import json
import unittest
from typing import Any, Dict, List, Tuple

from remote_runtime import registry
from remote_runtime.resources.archive import rules, settings

GOOD = {"url": "https://example.com/a.tar.gz", "owner": "root", "group": "root"}


class RulesTest(unittest.TestCase):
    def problems(self, name: str = "/a.tar.gz", **properties: Any) -> Dict[str, str]:
        return dict(rules.problems(name, dict(GOOD, **properties)))

    def test_kinds(self) -> None:
        """A path's ending tells its kind, in any case; an ending alone is no name."""
        for path, kind in (
            ("/a.tar.gz", "tar.gz"),
            ("/a.tgz", "tar.gz"),
            ("/a.TAR", "tar"),
            ("/a.zip", "zip"),
            ("/a.gz", ""),
            ("/a.tar.xz", "tar.xz"),
            ("/a.txz", "tar.xz"),
            ("/a.tar.bz2", "tar.bz2"),
            ("/a.tbz2", "tar.bz2"),
            ("/a.tar.zst", "tar.zst"),
            ("/a.tzst", "tar.zst"),
            ("/.tar.xz", ""),
            ("/zip", ""),
            ("/.zip", ""),
        ):
            self.assertEqual(rules.kind_of(path), kind, path)

    def test_accepted(self) -> None:
        """What the documents show is accepted."""
        self.assertEqual(self.problems(), {})
        self.assertEqual(self.problems("/a.tgz"), {})
        self.assertEqual(self.problems(url="http://u:p@[::1]:8080/x%2Etar.gz?a=b#c"), {})
        extracted = self.problems(extract_parent="/opt", creates="/opt/x", cleanup=True)
        self.assertEqual(extracted, {})
        self.assertEqual(self.problems(username="u", password="p"), {})
        self.assertEqual(self.problems(headers={"Authorization": "Bearer x y"}), {})

    def test_names(self) -> None:
        """The archive's path is absolute, clean and ends like an archive."""
        for name in ("a.tar.gz", "/x/../a.tar.gz", "/x//a.tar.gz", "/a.rar", "/a\n.tar.gz"):
            self.assertIn("name", self.problems(name), name)

    def test_urls(self) -> None:
        """A URL is http or https with a host, and of the kind that the name is of."""
        for url in (
            "ftp://example.com/a.tar.gz",
            "file:///a.tar.gz",
            "/a.tar.gz",
            "http:///a.tar.gz",
            "http://example.com:port/a.tar.gz",
            "http://[broken/a.tar.gz",
            "http://example.com/a.tar.gz\r\nX: y",
            "http://example.com/a b.tar.gz",
            "http://example.com/a.tar.lz4",
            "http://example.com/a.GZ",
            "http://example.com/a.zip",
            "http://example.com/a.tar",
        ):
            self.assertEqual(list(self.problems(url=url)), ["url"], url)
        for url in ("/download?file=a.zip", "/v1.2", "", "/a.tar.gz/", "/get.php"):
            self.assertEqual(self.problems(url="http://example.com" + url), {}, url)
        self.assertIn("a zip archive", self.problems(url="http://example.com/a.zip")["url"])

    def test_extraction(self) -> None:
        """cleanup needs the other two, and both are absolute paths."""
        self.assertEqual(list(self.problems(cleanup=True)), ["cleanup"])
        self.assertEqual(list(self.problems(cleanup=True, creates="/x")), ["cleanup"])
        self.assertEqual(list(self.problems(extract_parent="opt")), ["extract_parent"])
        self.assertEqual(list(self.problems(creates="/opt/../x")), ["creates"])

    def test_access(self) -> None:
        """Credentials that cannot be sent are refused, and no message repeats them."""
        cases: List[Tuple[Dict[str, Any], str]] = [
            ({"password": "hunter2"}, "password"),
            ({"username": "a:b"}, "username"),
            ({"username": "u", "headers": {"authorization": "hunter2"}}, "headers"),
            ({"headers": {"X Y": "hunter2"}}, "headers"),
            ({"headers": {"": "hunter2"}}, "headers"),
            ({"headers": {"Host": "hunter2"}}, "headers"),
            ({"headers": {"X": "hunter2\r\nY: z"}}, "headers"),
            ({"url": "http://u:hunter2@ex ample.com/a.tar.gz"}, "url"),
            ({"url": "http://u:p@hunter2@example.com/a.tar.gz"}, "url"),
            ({"url": "http://u:'hunter2@example.com/a.tar.gz"}, "url"),
        ]
        for properties, key in cases:
            found = self.problems(**properties)
            self.assertEqual(list(found), [key])
            self.assertNotIn("hunter2", found[key])

    def test_limits(self) -> None:
        """Limits are durations above nothing and sizes with a unit."""
        for key, value in (
            ("download_timeout", "soon"),
            ("extract_timeout", "0"),
            ("extract_max_size", "10"),
            ("extract_max_size", "GiB"),
        ):
            self.assertEqual(list(self.problems(**{key: value})), [key])
        self.assertEqual(rules.parse_size("2KiB"), 2048)

    def test_defaults_are_those_of_the_schema(self) -> None:
        """What the target takes for granted is what the schema documents."""
        schema = json.loads(registry.schema_text("archive").decode("utf-8"))["properties"]
        keys = ("download_timeout", "extract_timeout", "extract_max_size", "extract_max_members")
        given = settings.settings("/a.zip", {key: schema[key]["default"] for key in keys})
        self.assertEqual(settings.settings("/a.zip", {}), given)
