"""What the port to encrypted credentials refuses, and what it calls."""

import unittest
from typing import Any, List, NamedTuple, Optional
from unittest import mock

from remote_runtime.errors import ResourceError
from remote_runtime.host.machine import credentials


class Result(NamedTuple):
    """What a program printed."""

    code: int
    stdout: str

    def ending(self, _: Optional[float]) -> str:
        return "exit code %d" % self.code

    def tail(self) -> str:
        return ""


class Adapter(object):
    """Programs that answer as they are told; ``called`` has the arguments."""

    def __init__(self, result: Result, lacking: str = "") -> None:
        self._result, self._lacking = result, lacking
        self.called: List[Any] = []

    def lacking(self, program: str) -> Any:
        return self._lacking, ""

    def protected(self) -> Any:
        return mock.MagicMock()

    def run(self, argv: List[str], **options: Any) -> Result:
        self.called.append((argv, options.get("input")))
        return self._result


class PortTest(unittest.TestCase):
    """The machine's part, as root and as another user."""

    def port(self, adapter: Any, uid: int = 0) -> credentials.Credentials:
        patch = mock.patch("os.geteuid", return_value=uid)
        patch.start()
        self.addCleanup(patch.stop)
        self.files: Any = mock.MagicMock()
        return credentials.Credentials(self.files, adapter)

    def refusal(self, adapter: Adapter, uid: int = 0) -> ResourceError:
        """The error of a write, after which no file was written."""
        with self.assertRaises(ResourceError) as caught:
            self.port(adapter, uid).write("a", "/a", b"v", "tpm2")
        self.files.write.assert_not_called()
        return caught.exception

    def test_a_value_is_written_as_encrypted(self) -> None:
        """The value goes in by the standard input, where no list of processes shows it."""
        adapter = Adapter(Result(0, "V2h4\n"))
        self.port(adapter).write("a", "/a", b"value", "host")
        argv = ["systemd-creds", "encrypt", "--name=a", "--with-key=host", "-", "-"]
        self.assertEqual(adapter.called, [(argv, b"value")])
        self.files.write.assert_called_once_with("/a", b"V2h4\n", mode=0o600)

    def test_bytes_are_read(self) -> None:
        """Also those that are not UTF-8."""
        self.assertEqual(self.port(Adapter(Result(0, "/wA="))).value("a", "/a"), b"\xff\x00")

    def test_what_cannot_be_decrypted(self) -> None:
        """It is no failure: the file is written again."""
        self.assertIsNone(self.port(Adapter(Result(1, ""))).value("a", "/a"))

    def test_refusals(self) -> None:
        """Without root, without the program, and where encryption fails."""
        self.assertIn("only root", str(self.refusal(Adapter(Result(0, "x")), uid=1000)))
        lacking = self.refusal(Adapter(Result(0, "x"), "program systemd-creds not found"))
        self.assertIn("systemd 250", lacking.hint)
        failed = self.refusal(Adapter(Result(1, "")))
        self.assertIn("could not encrypt the credential a: exit code 1", str(failed))
        self.assertIn("key: host", failed.hint)
        self.assertIn("could not encrypt", str(self.refusal(Adapter(Result(0, " \n")))))
