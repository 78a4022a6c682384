import unittest
from typing import Any

from remote_runtime.health.kinds import NAMES, load
from remote_runtime.health.rules import Unknown, problems

GOOD = {
    "addr": {"tcp://[::1]:80": {"reachable": True, "timeout": 100, "local-address": "::1"}},
    "command": {"true": {"exit-status": 0, "stdout": ["a"], "stderr": [], "timeout": 5000}},
    "dns": {"MX:x.org": {"resolvable": True, "server": "192.0.2.1:53", "addrs": ["10 mail."]}},
    "file": {"/x": {"exists": True, "mode": {"or": ["0644", "0600"]}, "contents": {"have-len": 3}}},
    "group": {"g": {"exists": True, "gid": {"gt": 5}, "groupname": "wheel"}},
    "http": {"https://x/": {"status": 200, "headers": ["a: b"], "request-headers": ["a: b"],
                            "body": ["/x/"], "method": "POST", "proxy": "", "ca-file": ""}},
    "interface": {"lo": {"exists": True, "mtu": 1, "addrs": {"contain-element": "127.0.0.1/8"}}},
    "kernel-param": {"vm.swappiness": {"value": {"le": 60}}, "kernel.ostype": {"value": "Linux"}},
    "matching": {"any name": {"content": {"a": 1}, "matches": {"have-key": "a"}}},
    "mount": {"/": {"exists": True, "opts": ["rw"], "vfs-opts": ["rw"], "usage": {"lt": 95}}},
    "package": {"p": {"installed": True, "versions": {"semver-constraint": ">1.0.0"}}},
    "port": {"tcp:22": {"listening": True, "ip": ["0.0.0.0"]}, "udp6:53": {"listening": False}},
    "process": {"nginx": {"running": True, "title": "the server", "meta": {"a": [1]}}},
    "service": {"nginx": {"running": True, "skip": True}},
    "user": {"u": {"exists": True, "uid": 5, "groups": [{"have-prefix": "w"}], "home": "/x"}},
}  # fmt: skip

# rules, the way to the mistake, what the sentence or the hint holds
BAD = [
    ({"servce": {}}, ("servce",), "did you mean service?"),
    ({"gossfile": {}}, ("gossfile",), "put the rules of that file here"),
    ({"service": []}, ("service",), "must be a map"),
    ({"service": {"x": True}}, ("service", "x"), "must be a map"),
    ({"service": {"x": {}}}, ("service", "x"), "has no expectation"),
    ({"service": {"x": {"runing": True}}}, ("service", "x", "runing"), "did you mean running?"),
    ({"service": {"x": {"running": "yes"}}}, ("service", "x", "running"), "true or false"),
    ({"service": {"x": {"runlevels": []}}}, ("service", "x", "runlevels"), "no property"),
    ({"service": {"-x": {"running": True}}}, ("service", "-x"), "not the name of a service"),
    ({"file": {"/x": {"mode": "0644"}}}, ("file", "/x"), "requires exists"),
    ({"file": {"/x": {"exists": True, "mode": 420}}}, ("file", "/x", "mode"), "quote it"),
    ({"file": {"/x": {"exists": True, "mode": {"not": 420}}}}, ("file", "/x", "mode", "not"),
     "quote it"),
    ({"file": {"x": {"exists": True}}}, ("file", "x"), "must be absolute"),
    ({"file": {"/x": {"exists": True, "filetype": "dir"}}}, ("file", "/x", "filetype"),
     "known: file, directory"),
    ({"file": {"/x": {"exists": True, "contains": []}}}, ("file", "/x", "contains"), "contents"),
    ({"file": {"/x": {"exists": True, "contents": ["ok", "/(/"]}}},
     ("file", "/x", "contents", 1), "not a regular expression"),
    ({"file": {"/x": {"exists": True, "contents": [{"have-prefix": "a"}]}}},
     ("file", "/x", "contents", 0), "a pattern must be text"),
    ({"user": {"u": {"exists": True, "uid": {"gtt": 1}}}}, ("user", "u", "uid", "gtt"), "gt"),
    ({"user": {"u": {"exists": True, "uid": {"gt": "1"}}}}, ("user", "u", "uid", "gt"), "number"),
    ({"user": {"u": {"exists": True, "uid": {"gt": 1, "lt": 2}}}}, ("user", "u", "uid"), "and: ["),
    ({"user": {"u": {"exists": True, "uid": {}}}}, ("user", "u", "uid"), "exactly one key"),
    ({"user": {"u": {"exists": True, "uid": None}}}, ("user", "u", "uid"), "must be a number"),
    ({"user": {"u": {"exists": {"gjson": {}}}}}, ("user", "u", "exists", "gjson"), "no matcher"),
    ({"user": {"u": {"exists": True, "home": {"match-regexp": "(?=x)"}}}},
     ("user", "u", "home", "match-regexp"), "look-around"),
    ({"user": {"u": {"exists": True, "home": {"and": "x"}}}}, ("user", "u", "home", "and"), "list"),
    ({"package": {"p": {"installed": True, "versions": {"semver-constraint": "abc"}}}},
     ("package", "p", "versions", "semver-constraint"), "not a semantic version"),
    ({"addr": {"localhost:80": {"reachable": True}}}, ("addr", "localhost:80"), "tcp://host:port"),
    ({"port": {"sctp:22": {"listening": True}}}, ("port", "sctp:22"), "tcp:22"),
    ({"dns": {"MX:x.org": {"resolvable": True}}}, ("dns", "MX:x.org"), "requires server"),
    ({"dns": {"x": {"resolvable": True, "server": "a:b"}}}, ("dns", "x", "server"), "name server"),
    ({"http": {"ftp://x": {"status": 200}}}, ("http", "ftp://x"), "http://"),
    ({"http": {"http://x": {"status": 200, "request-headers": ["bad"]}}},
     ("http", "http://x", "request-headers"), "not a header"),
    ({"http": {"http://x": {"status": 200, "ca-file": "ca.pem"}}}, ("http", "http://x", "ca-file"),
     "absolute"),
    ({"kernel-param": {"../x": {"value": 1}}}, ("kernel-param", "../x"), "net.ipv4.ip_forward"),
    ({"command": {"x": {"exit-status": 0, "timeout": "5s"}}}, ("command", "x", "timeout"),
     "a number"),
]  # fmt: skip


class RulesTest(unittest.TestCase):
    def test_good(self) -> None:
        """Every kind is accepted with its properties and with matchers."""
        self.assertEqual(problems(GOOD), [])
        self.assertEqual(set(GOOD), set(NAMES))

    def test_bad(self) -> None:
        """What is not supported is named, with the way to it and what to write instead."""
        for rules, path, words in BAD:  # type: Any
            with self.subTest(rules=rules):
                found = problems(rules)
                self.assertEqual([entry[0] for entry in found], [path], found)
                self.assertIn(words, "%s (%s)" % found[0][1:])

    def test_unknown(self) -> None:
        """What a template will come to is left for later, what stands beside it is not."""
        template = Unknown("{{ x }}")
        self.assertEqual(problems(template), [])
        rules: Any = {
            "file": {template: {"exists": template, "mode": {"or": [template, "0644"]}}},
            "dns": {template: {"resolvable": True, "server": template}},
            "http": {"http://x": {"status": {template: 1}, "bdy": ["x"]}},
            "service": template,
        }
        self.assertEqual([path for path, _, _ in problems(rules)], [("http", "http://x", "bdy")])

    def test_every_kind_needs_its_first_attribute(self) -> None:
        """The attribute that tells whether it is there at all may not be left out."""
        for name in NAMES:
            kind = load(name)
            self.assertTrue(kind.attributes)
            self.assertTrue(kind.gate or name == "service", name)

    def test_depth(self) -> None:
        """Matchers within matchers end somewhere."""
        deep: Any = "x"
        for _ in range(100):
            deep = {"not": deep}
        found = problems({"user": {"u": {"exists": True, "home": deep}}})
        self.assertIn("nested deeper", found[0][1])
