import base64
import http.server
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from typing import Any, Dict, Optional

from remote_runtime.health.dns_message import ask
from remote_runtime.health.goss import evaluate
from remote_runtime.health.kinds import mount, port
from tests.remote_runtime.fakes import GROUP, OWNER, DirectoryTest, context, failure_of
from tests.remote_runtime.health.name_server import CUT, NameServer, silent


class KindTest(DirectoryTest):
    def judge(self, rules: Dict[str, Any], seconds: Optional[float] = None) -> Any:
        until = None if seconds is None else time.monotonic() + seconds
        return evaluate(rules, context(), until)

    def assert_pass(self, count: int, **rules: Any) -> None:
        rules = {name.replace("_", "-"): rule for name, rule in rules.items()}
        self.assertEqual(self.judge(rules), ("OK", "%d of %d passed" % (count, count)))

    def assert_fail(self, words: str, status: str = "CRITICAL", **rules: Any) -> None:
        rules = {name.replace("_", "-"): rule for name, rule in rules.items()}
        found, output = self.judge(rules)
        self.assertEqual(found, status, output)
        self.assertIn(words, output)


class SystemTest(KindTest):
    def test_file(self) -> None:
        """A file has its attributes, its content by lines, and its digests."""
        path = self.write("x.conf", b"listen = 80\n# end\n", 0o640)
        os.symlink(path, self.path("link"))
        self.assert_pass(
            9,
            file={
                path: {
                    "exists": True, "mode": "0640", "size": 18, "owner": OWNER,
                    "gid": os.stat(path).st_gid, "filetype": "file",
                    "contents": ["listen", "!nothing", "/^# end$/"],
                    "md5": {"have-len": 32},
                    "sha256": {"not": "0" * 64},
                }
            },
        )  # fmt: skip
        link = {"exists": True, "filetype": "symlink", "linked-to": path, "contents": ["end"]}
        self.assert_pass(4, file={"a link": dict(link, path=self.path("link"))})
        self.assert_pass(2, file={self.root: {"exists": True, "filetype": "directory"}})
        self.assert_pass(1, file={self.path("none"): {"exists": False}})
        self.assert_fail(
            'mode: expected "0644", found "0640"', file={path: {"exists": True, "mode": "0644"}}
        )
        self.assert_fail('no line contains "x"', file={path: {"exists": True, "contents": ["x"]}})
        self.assert_fail(
            "1 of 1 failed: file %s: exists: expected true, found false" % self.path("none"),
            file={self.path("none"): {"exists": True, "mode": "0644", "contents": ["x"]}},
        )
        self.assert_fail(
            "none does not exist", file={self.path("none"): {"exists": False, "mode": "0644"}}
        )

    def test_command(self) -> None:
        """A command is run by a shell; its status and both outputs are looked at."""
        rule = {"exec": "echo out; echo err >&2; exit 3", "exit-status": 3}
        self.assert_pass(3, command={"x": dict(rule, stdout=["out"], stderr={"equal": "err\n"})})
        self.assert_fail(
            "exit-status: expected 0, found 3", command={"x": dict(rule, **{"exit-status": 0})}
        )
        self.assert_fail("2 of 2 failed", command={"echo x": {"exit-status": 1, "stdout": ["y"]}})
        slow = {"sleep 30": {"exit-status": 0, "timeout": 50}}
        self.assert_fail("timed out after 0.05 s", command=slow)

    def test_accounts(self) -> None:
        """Users and groups are those of the system."""
        self.assert_pass(
            7,
            user={
                "root": {"exists": True, "uid": 0, "gid": 0, "groups": ["root"], "home": "/root"}
            },
            group={"root": {"exists": True, "gid": {"le": 0}}},
        )
        self.assert_pass(
            2, user={"no-such": {"exists": False}}, group={"no-such": {"exists": False}}
        )
        self.assert_fail("user no-such: exists", user={"no-such": {"exists": True, "uid": 1}})

    def test_kernel(self) -> None:
        """Kernel parameters, mounts, interfaces and processes are the kernel's own."""
        self.assert_pass(2, kernel_param={"kernel.ostype": {"value": "Linux"},
                                     "kernel/pid_max": {"value": {"gt": 100}}})  # fmt: skip
        self.assert_fail("cannot be read", kernel_param={"no.such": {"value": 1}})
        self.assert_pass(4, mount={"/proc": {"exists": True, "filesystem": "proc", "source": "proc",
                                        "opts": ["rw"]}})  # fmt: skip
        self.assert_pass(2, mount={"/": {"exists": True, "usage": {"le": 100}}})
        self.assert_fail("exists: expected true", mount={self.root: {"exists": True, "usage": 1}})
        self.assert_pass(
            3, interface={"lo": {"exists": True, "mtu": {"gt": 0}, "addrs": ["127.0.0.1/8"]}}
        )
        self.assert_pass(1, interface={"nope0": {"exists": False}})
        program = self.path("a-rather-long-name")
        os.symlink("/bin/sleep", program)
        process = subprocess.Popen([program, "30"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assert_pass(2, process={"a-rather-long-name": {"running": True},
                                "no-such-process": {"running": False}})  # fmt: skip

    def test_mount_table(self) -> None:
        """The last mount at a point counts, and escaped blanks are blanks."""
        table = (
            "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=continue\n"
            "2 1 0:5 / /mnt/a\\040b ro - tmpfs none rw,size=1k\n"
            "3 1 0:6 / /mnt/a\\040b rw,nosuid - nfs host:/x rw\n"
        )
        found = mount.find(table, "/mnt/a b/")
        self.assertEqual(
            found,
            {
                "opts": ["rw", "nosuid"],
                "vfs-opts": ["rw"],
                "filesystem": "nfs",
                "source": "host:/x",
            },
        )
        self.assertEqual((mount.find(table, "/") or {})["vfs-opts"], ["rw", "errors=continue"])
        self.assertIsNone(mount.find(table, "/mnt"))

    def test_a_name_server_that_answers_other_questions(self) -> None:
        """It is given up in time, however much it sends."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            over = threading.Event()

            def flood() -> None:
                """Send answers to nothing for a while."""
                _, client = server.recvfrom(512)
                while not over.wait(0.01):
                    server.sendto(b"x" * 20, client)

            thread = threading.Thread(target=flood, daemon=True)
            thread.start()
            timer = threading.Timer(20, over.set)
            timer.start()
            error = failure_of(lambda: ask("A", "a.test", server.getsockname(), 0.2))
            ended_before = over.is_set()
            over.set()
            timer.cancel()
            thread.join()
        self.assertIn("does not answer", str(error))
        self.assertFalse(ended_before)

    def test_port_and_addr(self) -> None:
        """A port that is listened on is seen from inside and outside, with its address."""
        with socket.socket() as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            server.bind(("127.0.0.1", 0))
            udp.bind(("127.0.0.1", 0))
            number, other = server.getsockname()[1], udp.getsockname()[1]
            self.assert_pass(1, port={"tcp:%d" % number: {"listening": False}})
            server.listen(1)
            self.assert_pass(4, port={"tcp:%d" % number: {"listening": True, "ip": ["127.0.0.1"]},
                                 "udp:%d" % other: {"listening": True, "ip": ["127.0.0.1"]}},
                        )  # fmt: skip
            self.assert_pass(
                1, addr={"tcp://127.0.0.1:%d" % number: {"reachable": True, "timeout": 9000}}
            )
            self.assert_fail(
                'expected ["0.0.0.0"]',
                port={"tcp:%d" % number: {"listening": True, "ip": ["0.0.0.0"]}},
            )
        self.assert_pass(1, addr={"tcp://127.0.0.1:%d" % number: {"reachable": False}})
        self.assert_fail(
            "expected true, found false", addr={"tcp://no.invalid:1": {"reachable": True}}
        )
        self.assertEqual(
            port._address("0100007F") if sys.byteorder == "little" else "127.0.0.1", "127.0.0.1"
        )

    def test_matching_and_skip(self) -> None:
        """A value of the manifest can be matched, and what is to be skipped is not looked at."""
        self.assert_pass(
            1, matching={"n": {"content": {"a": [1, 2]}, "matches": {"have-key": "a"}}}
        )
        status, output = self.judge(
            {
                "command": {"exit 9": {"exit-status": 0, "skip": True}},
                "matching": {"n": {"content": 1, "matches": 1, "title": "one", "meta": {"a": 1}}},
            }
        )
        self.assertEqual((status, output), ("OK", "1 of 1 passed; 1 skipped"))
        self.assert_fail(
            "matching one: matches: expected 2, found 1",
            matching={"n": {"content": 1, "matches": 2, "title": "one"}},
        )

    def test_deadline(self) -> None:
        """The time of the whole check bounds everything in it."""
        began = time.monotonic()
        rules = {"command": {"sleep %d" % n: {"exit-status": 0} for n in (20, 21)}}
        status, output = self.judge(rules, 0.2)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(status, "CRITICAL")
        self.assertIn("timed out", output)

    def test_broken_rules(self) -> None:
        """Rules that reach the target broken are not guessed at."""
        self.assertEqual(self.judge({"nope": {}})[0], "UNKNOWN")

    def test_many_failures(self) -> None:
        """The report of many failures ends somewhere."""
        rules = {"file": {"/none/%d" % n: {"exists": True} for n in range(15)}}
        output = self.judge(rules)[1]
        self.assertIn("15 of 15 failed", output)
        self.assertTrue(output.endswith("and 5 more"), output)

    def test_group_name(self) -> None:
        """The group of a file is its name."""
        path = self.write("g")
        name = context().accounts.group_name(int(GROUP))
        self.assert_pass(2, file={path: {"exists": True, "group": name}})


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(20)
        body = "%s %s\nauth=%s\n" % (self.command, self.path, self.headers.get("Authorization"))
        length = int(self.headers.get("Content-Length") or 0)
        body += self.rfile.read(length).decode()
        codes = {"/moved": 302, "/gone": 308, "/broken": 500}
        self.send_response(codes.get(self.path, 200))
        if self.path in ("/moved", "/gone"):
            self.send_header("Location", "/there")
        self.send_header("X-Test", self.headers.get("X-Asked", "no"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *words: Any) -> None:
        pass


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False


class HttpTest(KindTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        thread.daemon = True
        thread.start()
        self.addCleanup(self.server.server_close)

    def get(self, path: str, **rule: Any) -> Dict[str, Any]:
        return {self.url + path: {name.replace("_", "-"): value for name, value in rule.items()}}

    def test_answers(self) -> None:
        """Status, headers and body are looked at, whatever the status is."""
        self.assert_pass(
            3, http=self.get("/x", status=200, headers=["X-Test: no"], body=["/^GET .x$/"])
        )
        self.assert_pass(2, http=self.get("/broken", status=500, body=["GET"]))
        self.assert_fail("status: expected 200, found 500", http=self.get("/broken", status=200))

    def test_requests(self) -> None:
        """Method, headers, body and login go out as the rule says."""
        self.assert_pass(3, http=self.get("/", method="post", status=200, request_body="hello",
                                     request_headers=["X-Asked: yes"], headers=["X-Test: yes"],
                                     body=["POST /", "hello", "auth=None"]))  # fmt: skip
        login = base64.b64encode(b"me:s3cret").decode()
        self.assert_pass(2, http=self.get("/", status=200, username="me", password="s3cret",
                                     body=["auth=Basic " + login]))  # fmt: skip

    def test_redirects(self) -> None:
        """Redirects are followed, unless they are not to be; a login is not taken along."""
        for path in ("/moved", "/gone"):
            rule = self.get(path, status=200, username="a", body=["GET /there", "auth=None"])
            self.assert_pass(2, http=rule)
        self.assert_pass(1, http=self.get("/moved", status=302, no_follow_redirects=True))

    def test_a_url_with_a_password(self) -> None:
        """A password in a URL is used, and told to nobody."""
        url = self.url.replace("http://", "http://me:s3cret@")
        output = self.judge({"http": {url: {"status": 404, "body": ["auth=Basic"]}}})[1]
        self.assertIn("found 200", output)
        self.assertNotIn("s3cret", output)

    def test_no_answer(self) -> None:
        """A server that does not answer in time, or is not there, is told."""
        began = time.monotonic()
        self.assert_fail(
            "no response within 100 ms", http=self.get("/slow", status=200, timeout=100)
        )
        self.assertLess(time.monotonic() - began, 5)
        self.assert_fail(
            "no response: Connection refused", http={"http://127.0.0.1:1/": {"status": 200}}
        )
        self.assert_fail("no response", http={self.url.replace("http", "https"): {"status": 200}})


class DnsTest(KindTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = NameServer()
        self.addCleanup(self.server.close)

    def ask(self, name: str, **rule: Any) -> Dict[str, Any]:
        known = {"resolvable": True, "server": self.server.address, "timeout": 10000}
        return {name: dict(known, **rule)}

    def test_records(self) -> None:
        """Every type of record comes in the spelling of goss."""
        for name, addresses in (
            ("web.test", ["10.0.0.1", "10.0.0.2", "::1"]),
            ("A:web.test", ["10.0.0.1", "10.0.0.2"]),
            ("AAAA:web.test", ["::1"]),
            ("CNAME:web.test", ["real.test."]),
            ("MX:web.test", ["10 mail.test."]),
            ("NS:web.test", ["ns1.test."]),
            ("TXT:web.test", ["v=abc def", "other"]),
            ("SRV:_s._tcp.test", ["0 5 443 a.test."]),
            ("CAA:web.test", ["0 issue ca.test"]),
            ("PTR:8.8.8.8", ["dns.test."]),
            ("TXT:" + CUT, ["long"]),
        ):
            with self.subTest(name=name):
                self.assert_pass(2, dns=self.ask(name, addrs={"consist-of": addresses}))

    def test_trouble(self) -> None:
        """A name that is not there is not resolvable; a server that cannot tell is told."""
        self.assert_pass(1, dns=self.ask("no.test", resolvable=False))
        self.assert_fail("expected true, found false", dns=self.ask("no.test"))
        self.assert_fail("answered: refused", dns=self.ask("refused.test"))
        self.assert_fail("malformed response", dns=self.ask("CNAME:loop.test"))
        with silent() as channel:
            address = "%s:%d" % channel.getsockname()
            self.assert_fail("does not answer", dns=self.ask("A:x", server=address, timeout=100))

    def test_the_system(self) -> None:
        """Without a server the system's own resolver is asked."""
        self.assert_pass(2, dns={"localhost": {"resolvable": True, "addrs": ["127.0.0.1"]}})
        self.assert_pass(1, dns={"no.invalid": {"resolvable": False}})
