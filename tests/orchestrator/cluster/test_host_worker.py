"""How ``ccm worker`` ends while its scheduler says nothing; see ``test_dask.py`` for the rest."""

import signal
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are for Linux")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_worker_ends_at_once_while_it_waits_for_its_scheduler(number: signal.Signals) -> None:
    """With Ctrl-C, as a service, and with its terminal; as one does that has reached it."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(120)
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestrator.cli.app", "worker", "--scheduler", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with mute.accept()[0]:
            process.send_signal(number)
            said, _ = process.communicate(timeout=300)
    assert (process.returncode, said) == (0, "")
