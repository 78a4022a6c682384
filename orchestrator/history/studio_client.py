"""Talks to a studio over HTTPS (controller).

The certificate is checked against the system's CAs. Redirects are never followed, because the token
would be sent to another server. The responses of the studio are untrusted data.
"""

import http.client
import json
import os
import re
import ssl
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from orchestrator.history.location import (
    TOKEN_VARIABLE,
    HistoryError,
    HistoryLocation,
    HistoryUnreachableError,
)
from orchestrator.history.run_copy import RunCopyTarget
from orchestrator.secrets.errors import SecretError
from orchestrator.secrets.secret_commands import output_of, shell
from orchestrator.support.background_call import BackgroundCall
from orchestrator.support.plain_text import one_line
from orchestrator.support.private_file import read_private
from remote_runtime.errors import UsageError
from remote_runtime.version import VERSION

REQUEST_TIMEOUT = 5.0  # seconds for a connection, and for each part of an answer
ANSWER_TIMEOUT = 60.0  # seconds for a whole answer
API = "/api/v1"
MAX_ANSWER = 32 << 20  # bytes
_MAX_LENGTH = 200  # characters of a problem
_MAX_MESSAGES = 4_096  # bytes that are looked at for it
_REFUSED = {
    401: "the studio does not know this token",
    403: "the token does not allow this",
    404: "the studio has no such run",
    410: "the studio does not keep runs that old",
    413: "the studio does not store that much data",
}
COMMAND_TIME = 30.0  # seconds
MAX_CHARACTERS = 1_000  # characters
TOKEN = re.compile(r"[A-Za-z0-9_.~+/=-]{20,}", re.ASCII)
BEAT = 60.0  # seconds without news after which a run reports that it is still active


class Answer:
    """The status and the body of a response."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.body = body

    def document(self) -> dict[str, Any]:
        """The JSON object in it; HistoryError."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise HistoryError(
                "the history does not respond like a studio", hint="check the address in history"
            )
        return found


class StudioClient:
    """Requests to one studio, one at a time over one connection. HistoryError, including
    HistoryUnreachableError if the studio cannot be reached.
    """

    def __init__(self, choice: HistoryLocation) -> None:
        self._choice = choice
        self._address = urlsplit(choice.address)
        self._connection: http.client.HTTPConnection | None = None
        self._token = ""
        self._lock = threading.Lock()

    @property
    def label(self) -> str:
        """The address."""
        return self._choice.address

    def get(self, path: str, maximum: int = MAX_ANSWER) -> Answer:
        """Get a document below the API."""
        return self._request("GET", path, None, maximum)

    def post(self, path: str, body: bytes) -> Answer:
        """Post a body below the API. Status 409 is returned like a success."""
        return self._request("POST", path, body, MAX_ANSWER)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _request(self, method: str, path: str, body: bytes | None, maximum: int) -> Answer:
        with self._lock:
            self._token = self._token or token_of(self._choice)
            is_new = self._connection is None
            try:
                return self._answer(method, path, body, maximum)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if is_new:
                    raise self._away(error) from error
            try:  # the studio closes a connection that was not used for a while
                return self._answer(method, path, body, maximum)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                raise self._away(error) from error

    def _answer(self, method: str, path: str, body: bytes | None, maximum: int) -> Answer:
        if self._connection is None:
            self._connection = self._connected()
        headers = {"Authorization": f"Bearer {self._token}", "User-Agent": f"ccm/{VERSION}"}
        if body is not None:
            headers["Content-Type"] = "application/octet-stream"
        connection = self._connection
        connection.request(method, f"{self._address.path}{API}{path}", body, headers)

        def read() -> Answer:
            """The answer, at most one byte more than the maximum."""
            response = connection.getresponse()
            return Answer(response.status, response.read(maximum + 1))

        try:
            found = BackgroundCall(read, "history").wait(time.monotonic() + ANSWER_TIMEOUT)
        except TimeoutError as error:
            raise TimeoutError(str(error) or f"no response within {ANSWER_TIMEOUT:g} s") from error
        if len(found.body) > maximum:
            self.close()
            raise HistoryError(
                "the response of the studio is too large", hint="read the run in the studio"
            )
        if found.status in (200, 409):
            return found
        raise self._refusal(found.status, found.body)

    def _connected(self) -> http.client.HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=REQUEST_TIMEOUT)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=REQUEST_TIMEOUT, context=context)

    def _refusal(self, status: int, body: bytes) -> HistoryError:
        if status in (408, 429) or status >= 500:
            return HistoryUnreachableError(
                f"{self.label} responded with {status}", hint="try again later"
            )
        if 300 <= status < 400:
            return HistoryError(
                f"{self.label} redirects to another address, which ccm does not follow",
                hint="set history to that address",
            )
        reason = _REFUSED.get(status, f"the studio responded with {status}")
        text = body[:_MAX_MESSAGES].decode("utf-8", "replace").replace(self._token, "***")
        said = one_line(text, _MAX_LENGTH)
        return HistoryError(
            f"{self.label}: {reason}{f' ({said})' if said else ''}",
            hint="ask the administrator of the studio",
        )

    def _away(self, error: Exception) -> HistoryError:
        text = one_line(str(getattr(error, "strerror", "") or error), _MAX_LENGTH)
        if isinstance(error, ssl.SSLCertVerificationError):
            return HistoryError(
                f"the certificate of {self.label} is not trusted: {error.verify_message}",
                hint="add its CA to the CAs of the system, or set SSL_CERT_FILE",
            )
        return HistoryUnreachableError(
            f"{self.label} does not respond: {text}", hint="try again later"
        )


def token_of(choice: HistoryLocation) -> str:
    """The token from the environment, else from the file or the command of the project.

    HistoryError without a token. It is never part of a message.
    """
    where, text = TOKEN_VARIABLE, os.environ.get(TOKEN_VARIABLE, "")
    if not text and "file" in choice.token:
        where, text = "the file of history_token", _from_file(choice.token["file"])
    elif not text and "command" in choice.token:
        where, text = "the command of history_token", _from_command(choice.token["command"])
    elif not text:
        raise HistoryError(
            "there is no token for the history",
            hint=f"set {TOKEN_VARIABLE}, or history_token in ccm.yaml",
        )
    token = text.partition("\n")[0].strip()
    if not TOKEN.fullmatch(token) or len(token) > MAX_CHARACTERS:
        raise HistoryError(
            f"{where} does not contain a token", hint="ccm studio token add creates one"
        )
    return token


def _from_file(path: str) -> str:
    try:
        return read_private(path, MAX_CHARACTERS)
    except UsageError as error:
        raise HistoryError(error.message, hint=error.hint) from error


def _from_command(command: str) -> str:
    try:
        output = output_of(shell(command), COMMAND_TIME, what="the command of history_token")
    except SecretError as error:
        raise HistoryError(error.message, hint="run it manually to see why") from error
    return output[:MAX_CHARACTERS].decode("utf-8", "replace")


class StudioCopy(RunCopyTarget):
    """A run at a studio, while it is copied. CcmError if it cannot be stored."""

    max_data = 256 << 10  # bytes at once

    def __init__(self, client: StudioClient, run_id: str, about: bytes) -> None:
        self._client = client
        self._path = f"/runs/{run_id}"
        self._about = about
        self._last = 0.0
        self._sizes = self._read(self._post(self._path, about))

    def sizes(self) -> dict[str, int]:
        return self._sizes

    def hold(self) -> bool:
        """Do nothing: the studio marks the run as in progress while posts arrive."""
        return True

    def append(self, name: str, at: int, data: bytes) -> int:
        answer = self._post(f"{self._path}/{name}?at={at}", data)
        size = answer.document().get("size")
        if type(size) is not int or size < 0:
            raise HistoryError("the studio did not report what it stored", hint="check its version")
        return size

    def write_about(self, text: bytes) -> None:
        if self._post(self._path, text).status != 200:
            raise HistoryError(
                "the studio has another run with this ID", hint="the run is kept on this machine"
            )
        self._about = text

    def beat(self) -> None:
        """Report that the run is still active, if nothing was posted for a while."""
        if time.monotonic() - self._last >= BEAT:
            self._post(self._path, self._about)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _post(self, path: str, body: bytes) -> Answer:
        answer = self._client.post(path, body)
        self._last = time.monotonic()
        return answer

    def _read(self, answer: Answer) -> dict[str, int]:
        sizes = answer.document().get("sizes")
        whole = isinstance(sizes, dict) and all(type(size) is int for size in sizes.values())
        if answer.status != 200 or not isinstance(sizes, dict) or not whole:
            raise HistoryError(
                "the studio has another run with this ID", hint="the run is kept on this machine"
            )
        return sizes
