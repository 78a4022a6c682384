"""Repositories for tests, and servers that hand them out (Python 3.6 and newer)."""

import base64
import functools
import http.server
import os
import subprocess
import threading
from typing import Any, List

ENVIRONMENT = dict(
    os.environ,
    GIT_AUTHOR_NAME="x",
    GIT_AUTHOR_EMAIL="x@example.net",
    GIT_COMMITTER_NAME="x",
    GIT_COMMITTER_EMAIL="x@example.net",
    GIT_CONFIG_GLOBAL="/dev/null",
    GIT_ALLOW_PROTOCOL="file",
)


def git(*words: str) -> str:
    """What git prints."""
    done = subprocess.run(
        ["git", *words],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(path: str, text: str, name: str = "app") -> str:
    """Add a commit with this text of a file; the commit."""
    with open(os.path.join(path, name), "w") as file:
        file.write(text)
    git("-C", path, "add", name)
    git("-C", path, "commit", "-q", "-m", "c")
    return git("-C", path, "rev-parse", "HEAD")


def repository(path: str, *texts: str) -> List[str]:
    """A repository whose branch main has a commit for each text; the commits."""
    git("init", "-q", path)
    git("-C", path, "symbolic-ref", "HEAD", "refs/heads/main")
    return [commit(path, text) for text in texts]


class Web(object):
    """Hands out what is in a directory to who has the password; ``close`` ends it."""

    def __init__(self, directory: str, user: str, password: str) -> None:
        self.authorizations: List[str] = []
        wanted = "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        given = self.authorizations

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self) -> None:
                given.append(self.headers.get("Authorization") or "")
                if given[-1] == wanted:
                    super().do_GET()
                    return
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=x")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def translate_path(self, path: str) -> str:
                return directory + path.partition("?")[0]

            def log_message(self, *words: Any) -> None:
                pass

        self._server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(Handler))
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = "http://127.0.0.1:%d" % self._server.server_address[1]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


SSH = """\
#!/bin/sh
# stands for ssh: wants the key and the host keys, and runs the command here
for word; do
    case $word in
    IdentityFile=*) grep -q "@KEY@" "${word#*=}" || exit 7 ;;
    UserKnownHostsFile=*) grep -q "^git.example.net ssh-ed25519 HOST$" "${word#*=}" || exit 8 ;;
    esac
    last=$word
done
test -z "$CCM_SSH_KEY" || exit 9
eval "exec $last"
"""


def with_ssh(directory: str, key: str) -> None:
    """Put a git into a directory that takes a script for ssh, which wants this key."""
    for name, text in (
        ("ssh", SSH.replace("@KEY@", key)),
        ("git", '#!/bin/sh\nPATH=%s:$PATH exec /usr/bin/git "$@"\n' % directory),
    ):
        path = os.path.join(directory, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
