import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class MainTest(unittest.TestCase):
    def run_it(self, *words: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-m", "remote_runtime", *words],
            cwd=str(ROOT),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
        )

    def test_it_serves_a_run(self) -> None:
        """With a nonce and a hash it greets with them, as the bootstrap would."""
        self.assertIn(
            b'"nonce": "abc"', self.run_it("abc", "0" * 64).stdout.replace(b'":"', b'": "')
        )

    def test_it_says_what_it_takes(self) -> None:
        """Without them it tells its usage and serves nothing."""
        done = self.run_it("abc")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"NONCE SHA256", done.stderr)
