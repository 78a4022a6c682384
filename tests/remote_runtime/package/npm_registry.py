"""A registry for npm on this machine, with packages that hold one file."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, Dict, List


def tarball(name: str, version: str, **more: Any) -> bytes:
    """A package of npm."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for path, text in (
            ("package.json", json.dumps(dict(more, name=name, version=version))),
            ("index.js", "module.exports = %s\n" % json.dumps(version)),
        ):
            data = text.encode()
            entry = tarfile.TarInfo("package/" + path)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


class NpmRegistry(object):
    """Serves packages until ``close``; ``asked`` are the paths that were asked for."""

    def __init__(self) -> None:
        registry = self
        self.asked: List[str] = []
        self._files: Dict[str, bytes] = {}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry.asked.append(self.path)
                data = registry._files.get(self.path.replace("%2f", "/").replace("%2F", "/"))
                self.send_response(404 if data is None else 200)
                self.end_headers()
                self.wfile.write(b'{"error": "not found"}' if data is None else data)

            def log_message(self, *words: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d/" % self._server.server_port
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, name: str, *versions: str, **more: Any) -> None:
        """A package in these versions, the last of which is the latest."""
        entries = {}
        for version in versions:
            data = tarball(name, version, **more)
            path = "/%s/-/%s.tgz" % (name, version)
            self._files[path] = data
            digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
            dist = {"tarball": self.url.rstrip("/") + path, "integrity": "sha512-" + digest}
            entries[version] = dict(more, name=name, version=version, dist=dist)
        document = {"name": name, "dist-tags": {"latest": versions[-1]}, "versions": entries}
        self._files["/" + name] = json.dumps(document).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
