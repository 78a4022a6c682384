"""What comes from a cluster of Dask is data, never code."""

import socket
import subprocess
import sys

OPENED = """
import os, warnings
from distributed.protocol import core
from distributed.protocol.serialize import Serialize, ToPickle
from orchestrator.cluster import dask_api

class Code:
    def __reduce__(self):
        return os.system, ("echo taken over",)

messages = [core.dumps({"x": ToPickle(Code())}), core.dumps({"x": Serialize(Code())})]
dask_api.refuse_pickles()
assert dask_api.Client._default_event_handlers == {}
for message in messages:
    try:
        found = core.loads([bytes(frame) for frame in message])
        print("opened", found)
    except ValueError as error:
        print("refused")
print(core.loads(core.dumps({"data": b"bytes"})))
"""


def test_no_pickle_is_opened() -> None:
    """Neither one that Dask would open at once nor one that it would open for the user."""
    done = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["refused", "refused", "{'data': b'bytes'}"], done.stderr


MUTE = """
import sys
from orchestrator.cluster import dask_api, scheduler_probe
from orchestrator.cluster.scheduler_client import SchedulerClient
from remote_runtime.errors import UsageError

dask_api.CONNECT = scheduler_probe._PATIENCE = 0.2
try:
    SchedulerClient(sys.argv[1], None, "run")
except UsageError as error:
    print(error.message.partition(": ")[2].partition(": ")[2])
"""


def test_what_listens_and_says_nothing_is_no_scheduler() -> None:
    """Dask would wait for its first word without end."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        words = [sys.executable, "-c", MUTE, f"tcp://127.0.0.1:{mute.getsockname()[1]}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == (
        "it closes the connection or does not respond\n",
        0,
    ), done.stderr
