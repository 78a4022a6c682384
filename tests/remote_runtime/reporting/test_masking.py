import base64
import hashlib
import json
import shlex
import unittest
from html import escape
from typing import Any, Callable, Dict, Iterator, List
from urllib.parse import quote, quote_plus

from remote_runtime.reporting.masking import MANY, MASKED, Mask, credentials_in
from remote_runtime.stdlib_light import json_text
from tests.texts import expect_text


class _AskedOnly(Dict[str, Any]):
    """One that answers what it is asked, and is not gone through."""

    def __iter__(self) -> Any:
        raise AssertionError("all of it is gone through")


class _AskedWithin(Dict[str, bool]):
    """Spellings; while somebody goes through them another one asks, before the one at ``place``."""

    def __init__(self, spellings: Dict[str, bool], ask: Callable[[], bool], place: int) -> None:
        super().__init__(spellings)
        self.answers: List[bool] = []
        self._ask, self._place = ask, place
        self._asked = False

    def __iter__(self) -> Iterator[str]:
        for number, spelling in enumerate(super().__iter__()):
            if number == self._place and not self._asked:
                self._asked = True
                self.answers.append(self._ask())
                self._asked = False
            yield spelling


class MaskTest(unittest.TestCase):
    def test_secrets(self) -> None:
        """Every spelling of a secret is replaced, the longer of two before the shorter."""
        mask = Mask(["hunter2", "hunter22", 'qu"ote\n'])
        self.assertEqual(mask.text("a hunter22 b hunter2"), "a [masked] b [masked]")
        self.assertEqual(mask.text(repr('qu"ote\n')), "'[masked]\\n'")

    def test_quotings_of_other_programs(self) -> None:
        """JSON of Go and PHP, JSON beyond ASCII, XML, HTML of templates, and ``printf %q``."""
        secret = "pé\"w/x<y>'&z \\t"
        bare = json.dumps(secret, ensure_ascii=False)[1:-1]
        ascii_only = json.dumps(secret)[1:-1]
        for text in (
            bare,
            bare.replace("/", "\\/"),
            ascii_only.replace("/", "\\/"),
            *(
                text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
                for text in (bare, ascii_only)
            ),
            *(
                escape(secret, quote=False).replace('"', double).replace("'", single)
                for double in ("&quot;", "&#34;")
                for single in ("&#39;", "&apos;", "&#x27;")
                if (double, single) not in (("&#34;", "&apos;"), ("&#34;", "&#x27;"))
            ),
            "pé\\\"w/x\\<y\\>\\'\\&z\\ \\\\t",
        ):
            self.assertEqual(Mask([secret]).text("a %s b" % text), "a [masked] b")

    def test_base64_over_several_lines(self) -> None:
        """As base64, openssl, YAML and diffs divide it, in a text and in its JSON text."""
        secret = "correct horse battery staple, and more of it"
        encoded = base64.b64encode(b"password=%s\n" % secret.encode() * 2).decode()
        mask = Mask([secret])
        for width in (16, 64, 76):
            lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
            for wrap in ("\n", "\r\n", "\n    ", "\n+", "\n-", "\\n"):
                text = "a\n+" + wrap.join(lines) + "\nb"
                shown = mask.text(text)
                self.assertEqual(shown.count(MASKED), 2, shown)
                self.assertLess(len(shown), 60)
                self.assertFalse(mask.passes(json_text.dumps([text])))

    def test_breaks_of_lines_cost_little(self) -> None:
        """Very many blanks and empty lines in what looks like base64 are soon looked through."""
        mask = Mask(["correct horse battery staple"])
        core = base64.b64encode(b"correct horse battery staple").decode().strip("=")
        text = (core[:20] + "\n" + " " * 15 + "\n" * 50) * 5000 + core[:20] + "\n" + core[20:]
        self.assertTrue(mask.text(text).endswith(MASKED))

    def test_base32(self) -> None:
        """At any offset in what is encoded, but for letters that hold bits of something else."""
        secret = "correct horse"
        mask = Mask([secret])
        for before in range(11):
            text = base64.b32encode(b"-" * before + secret.encode() + b"++").decode()
            self.assertRegex(mask.text(text), r"^[A-Z2-7]{0,16}\[masked\][A-Z2-7]{0,2}=*$")

    def test_large_secret(self) -> None:
        """A secret of a megabyte is found; in quadratic time the test would not end in time."""
        secret = "correct horse battery staple\n" * 36000
        encoded = base64.b32encode(secret.encode()).decode()
        self.assertTrue(Mask([secret]).text(encoded).startswith(MASKED))

    def test_base64_and_urls(self) -> None:
        """A secret that is encoded as base64 in a URL or in JSON of PHP, or twice for a URL."""
        mask = Mask(["a?b>c?d~é/ü"])
        encoded = base64.b64encode("a?b>c?d~é/ü".encode()).decode().strip("=")
        self.assertRegex(encoded, r"[+/]")
        for text in (
            quote(encoded, ""),
            encoded.replace("/", "\\/"),
            quote(quote("a?b>c?d~é/ü", ""), ""),
            "a%3Fb%3Ec%3Fd~%C3%A9%2F%C3%BC",
            "a%3Fb%3Ec%3Fd%7E%C3%A9%2F%C3%BC",
            "a%253Fb%253Ec%253Fd%257E%25C3%25A9%252F%25C3%25BC",
        ):
            self.assertEqual(mask.text("x %s y" % text), "x [masked] y")

    def test_other_letters(self) -> None:
        """In capitals, in small letters, backwards, in the hex of dumps, and encoded twice."""
        secret = "Sup3r/Gehé\u00efm"
        mask = Mask([secret])
        data, wide = secret.encode(), secret.encode("utf-16-le")
        for text in (
            *(secret.upper(), secret.lower(), secret[::-1], wide.hex()),
            *(separator.join("%02x" % byte for byte in data) for separator in " :"),
            *("".join(form % byte for byte in data) for form in ("%%%02x", "%%%02X", "\\x%02x")),
        ):
            self.assertEqual(mask.text("a %s b" % text), "a [masked] b")
        for text in (
            base64.b64encode(wide).decode(),
            base64.b64encode(base64.b64encode(data)).decode(),
            base64.b64encode(b"password=" + base64.b64encode(data + b"\n")).decode(),
        ):
            left = mask.text(text).replace(MASKED, "")
            self.assertLess(len(left), 24, left)

    def test_other_letters_of_a_short_secret(self) -> None:
        """They may be a word, and stay."""
        self.assertEqual(Mask(["tester"]).text("TESTER, retset"), "TESTER, retset")

    def test_short_values_stay(self) -> None:
        """Values of fewer than 4 characters are not searched for."""
        self.assertEqual(Mask(["abc"]).text("abcd"), "abcd")

    def test_lines_of_a_secret(self) -> None:
        """A secret of several lines is hidden line by line too, as in a diff."""
        self.assertEqual(
            Mask(["first line\nsecond"]).text("+first line\n+second\n"), "+[masked]\n+[masked]\n"
        )

    def test_what_stands_behind_a_scheme(self) -> None:
        """Of the value of a header, the token is hidden alone as well, and what a login encodes."""
        expect_text(Mask(["Bearer tok-12345"]).text("no tok-12345 here"), self)
        login = base64.b64encode(b"deploy:hunter22").decode()
        mask = Mask(["Basic " + login])
        expect_text(mask.text("%s is hunter22" % login), self)
        self.assertEqual(Mask(["Basic ???"]).text("???"), "???")
        self.assertEqual(Mask(["word tok-12345"]).text("tok-12345"), "tok-12345")

    def test_half_a_character(self) -> None:
        """What stands for a byte that is no text, and half a character, hide like any other."""
        for secret in ("abc\udc80def", "abc\ud800def"):
            self.assertEqual(Mask([secret]).text("x %s y" % secret), "x [masked] y")

    def test_urls(self) -> None:
        """A password and a token in a URL are hidden, the user and the host are not."""
        mask = Mask()
        self.assertEqual(mask.text("get http://u:pass@h/x"), "get http://u:[masked]@h/x")
        self.assertEqual(mask.text("https://token@h/x"), "https://[masked]@h/x")
        self.assertEqual(mask.text("ssh://git@h/x"), "ssh://git@h/x")

    def test_long_texts(self) -> None:
        """A text that only looks like the beginnings of URLs is searched in one pass."""
        text = "a.b+" * 500000 + " ://"
        self.assertEqual(Mask().text(text), text)

    def test_many_secrets(self) -> None:
        """A large text is searched for a thousand secrets in about one pass, however many."""
        secrets = [hashlib.sha256(b"%d" % n).hexdigest()[:20] for n in range(1000)]
        text = "".join(hashlib.sha256(b"x%d" % n).hexdigest() for n in range(14000))
        mask = Mask(secrets)
        for n in range(8):
            self.assertEqual(mask.text(text + secrets[n]), text + MASKED)

    def test_many_secrets_and_short_texts(self) -> None:
        """For a short text not all parts of all secrets are gone through."""
        mask = Mask("secret-of-%d" % number for number in range(MANY))
        mask.text("the first lookup lays them out")
        mask._by_piece = {length: _AskedOnly(pieces) for length, pieces in mask._by_piece.items()}
        expect_text(mask.text("a secret-of-7, and so on"), self)

    def test_many_threads(self) -> None:
        """One that asks while another one finds out what to look for gets the whole answer."""
        one, many = Mask(["s3cr3t"]), Mask(["s3cr3t-%d" % number for number in range(MANY)])
        for mask, place, hides in (
            (one, 0, lambda: not one.passes('"s3cr3t"')),
            (many, 1, lambda: many.text("s3cr3t-%d" % (MANY - 1)) == "[masked]"),
        ):
            mask._spellings = spellings = _AskedWithin(mask._spellings, hides, place)
            self.assertTrue(hides())
            self.assertEqual(spellings.answers, [True])

    def test_many_extensions(self) -> None:
        """Each of a thousand resources may have a secret of its own."""
        mask = Mask(["secret-%d" % n for n in range(1000)])
        for n in range(1000):
            own = mask.extended(["own-%d!" % n])
            self.assertEqual(own.text("a own-%d! secret-%d." % (n, n)), "a [masked] [masked].")

    def test_extended(self) -> None:
        """Secrets of a resource and of the run are hidden together where they overlap."""
        mask = Mask(["abcdef"])
        self.assertEqual(mask.extended(["abcdefgh"]).text("abcdefgh abcdef"), "[masked] [masked]")
        self.assertEqual(mask.extended(["cdef"]).text("abcdef cdef"), "[masked] [masked]")
        again = mask.extended(["own value"]).extended(["more"], hashes=True)
        self.assertEqual(
            again.text("own value, more, abcdef, %s" % ("0" * 16)),
            "[masked], [masked], [masked], [masked]",
        )
        self.assertIs(mask.extended(["abcdef"]), mask)
        later = mask.extended(["own value"])
        mask.add(["told later"])
        self.assertEqual(later.text("told later"), MASKED)

    def test_authorization(self) -> None:
        """An Authorization header is hidden to its end, in a text and as a key."""
        mask = Mask()
        self.assertEqual(
            mask.text("Authorization: Basic dTpw\nHost: h"), "Authorization: [masked]\nHost: h"
        )
        self.assertEqual(
            mask.value({"headers": {"Authorization": "Bearer x", "Host": "h"}, "n": 1}),
            {"headers": {"Authorization": MASKED, "Host": "h"}, "n": 1},
        )

    def test_other_forms(self) -> None:
        """A secret is hidden in base64 at any offset, in hex, and quoted for anything."""
        secret = 's3/cr\'t & <"v\u00e4lue">'
        mask = Mask([secret])
        data = secret.encode()
        told = [
            base64.b64encode(b"x" * before + data + b"y" * after).decode()
            for before in range(4)
            for after in range(4)
        ]
        for text in told:
            left = mask.text("Basic %s." % text).replace(MASKED, "")
            self.assertLess(len(left), len("Basic .") + 8, text)
        told = [
            base64.urlsafe_b64encode(data).decode(), data.hex(), data.hex().upper(), quote(secret),
            quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], escape(secret),
            shlex.quote(secret)[1:-1], repr(secret)[1:-1],
        ]  # fmt: skip
        for text in told:
            self.assertEqual(mask.text(">%s<" % text), ">%s<" % MASKED)

    def test_what_passes_by_its_json_text(self) -> None:
        """What nothing of would be masked passes, and whatever would be does not."""
        secrets = [
            "hunter2",
            'qu"o\\te',
            "t\tab",
            "\u00fcml\u00e4ut",
            "\U0001f511key",
            "<&'>",
            "1f2e3d",
        ]
        secrets += ["Bearer tok-12345", "two lines\nof it", "\ud83dhalf"]
        bare, deep = Mask(secrets), Mask(secrets[3:]).extended(secrets[:3])
        for mask in (bare, deep, Mask(secrets + ["other-%d" % n for n in range(40)])):
            for plain in ("", "a hunter of 2", "quote", "\u00fcml", {"k": ["tab", 7, None, True]}):
                self.assertTrue(mask.passes(json_text.dumps(plain)), plain)
            for secret in secrets:
                for spelt in Mask([secret])._spellings:
                    for value in (spelt, "x%sy" % spelt, {spelt: 1}, [[{"a": "\u263a" + spelt}]]):
                        if mask.value(value) != value:
                            self.assertFalse(mask.passes(json_text.dumps(value)), value)
            self.assertFalse(mask.passes('a name of no JSON: qu"o\\te'))
        self.assertFalse(bare.extended((), hashes=True).passes('"plain"'))
        bare.add(["later-one"])
        self.assertFalse(bare.passes('"a later-one"'))

    def test_tokens_of_a_query(self) -> None:
        """What a URL's query calls a token, key, signature or password is hidden."""
        mask = Mask()
        url = "GET https://h/x?page=2&access_token=%s&X-Amz-Signature=%s#a"
        self.assertEqual(mask.text(url % ("abc", "f0")), url % (MASKED, MASKED))
        self.assertEqual(mask.text("/x?sig=%2Fa&key=b ok"), "/x?sig=[masked]&key=[masked] ok")
        self.assertEqual(mask.text("is a==b? monkey=1"), "is a==b? monkey=1")

    def test_credentials_in_urls(self) -> None:
        """The login and the tokens of a URL are found, as they are and as they are written."""
        found = credentials_in({"url": "https://me:p%40ss@h/x?token=abcdefgh&v=1", "n": 1})
        self.assertEqual(found, ["p@ss", "me:p@ss", "abcdefgh"])
