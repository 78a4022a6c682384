"""A web server for tests: it serves what it is given, well or badly (Python 3.6 and newer)."""

import base64
import http.server
import os
import shutil
import socketserver
import ssl
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Tuple

Answer = Callable[[Any], None]


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients of these tests go away and refuse certificates on purpose."""


class Web(object):
    """Serves ``answers`` by path at an address of this machine.

    ``requests`` holds (path, headers) of each request.
    """

    def __init__(self, certificate: str = "", address: str = "127.0.0.1") -> None:
        self.answers: Dict[str, Answer] = {}
        self.requests: List[Tuple[str, Dict[str, str]]] = []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # as http.server calls it
                headers = {k.lower(): v for k, v in self.headers.items()}
                web.requests.append((self.path, headers))
                answer = web.answers.get(self.path.partition("?")[0], status(404))
                answer(self)

            def do_HEAD(self) -> None:  # as http.server calls it
                self.do_GET()

            def log_message(self, *arguments: Any) -> None:
                """Nothing to say."""

        self._address = address
        self._server = _Server((address, 0), Handler)
        self.port = self._server.server_address[1]
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._scheme = "https" if certificate else "http"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.daemon = True
        self._thread.start()

    def url(self, path: str, host: str = "", userinfo: str = "") -> str:
        return "%s://%s%s:%d%s" % (self._scheme, userinfo, host or self._address, self.port, path)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def content(data: bytes, declared: int = -1) -> Answer:
    """200 with these bytes; ``declared`` is another Content-Length, after which it hangs up."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data) if declared < 0 else declared))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def chunked(data: bytes, whole: bool = True) -> Answer:
    """200 in chunks; without ``whole`` the last one is missing."""

    def answer(handler: Any) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for at in range(0, len(data), 1000):
            piece = data[at : at + 1000]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n" if whole else b"3e8\r\nhalf")

    return answer


def status(code: int) -> Answer:
    """Another status than 200."""
    return lambda handler: handler.send_error(code)


def redirect(to: str, code: int = 302) -> Answer:
    """A redirect; ``to`` may be empty for one that does not say where to."""

    def answer(handler: Any) -> None:
        handler.send_response(code)
        if to:
            handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def guarded(data: bytes, user: str, password: str) -> Answer:
    """200 for these credentials, 401 for any other."""
    wanted = "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()

    def answer(handler: Any) -> None:
        right = handler.headers.get("Authorization") == wanted
        (content(data) if right else status(401))(handler)

    return answer


def hanging(data: bytes, seconds: float = 30.0) -> Answer:
    """A beginning, then silence."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data) + 1000))
        handler.end_headers()
        handler.wfile.write(data)
        handler.wfile.flush()
        time.sleep(seconds)

    return answer


def garbage(handler: Any) -> None:
    """No HTTP at all."""
    handler.wfile.write(b"220 mail.example.com ESMTP\r\n")


def authority(directory: str, names: str = "DNS:localhost") -> Tuple[str, str]:
    """A CA of our own and a certificate for the names: (CA file, certificate with its key)."""
    ca, both = os.path.join(directory, "ca.pem"), os.path.join(directory, "server.pem")
    config = os.path.join(directory, "openssl.cnf")
    with open(config, "w") as out:
        out.write(
            "[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=localhost\n"
            "[ca]\nbasicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign\n"
            "subjectKeyIdentifier=hash\n[leaf]\nsubjectAltName=%s\n"
            "basicConstraints=CA:FALSE\nauthorityKeyIdentifier=keyid\n" % names
        )
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]  # made in no time
    new = ["req", "-config", config] + key + ["-nodes", "-sha256"]
    _openssl(directory, new + ["-x509", "-extensions", "ca", "-keyout", "ca.key", "-out", "ca.pem"])
    _openssl(directory, new + ["-keyout", "key.pem", "-out", "request.pem"])
    _openssl(
        directory,
        ["x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-sha256"]
        + ["-set_serial", "2", "-extfile", config, "-extensions", "leaf", "-out", "leaf.pem"],
    )
    with open(both, "wb") as out_bytes:
        for name in ("leaf.pem", "key.pem"):
            with open(os.path.join(directory, name), "rb") as part:
                shutil.copyfileobj(part, out_bytes)
    return ca, both


def _openssl(directory: str, arguments: List[str]) -> None:
    subprocess.check_output(["openssl"] + arguments, cwd=directory, stderr=subprocess.STDOUT)
