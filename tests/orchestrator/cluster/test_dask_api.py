"""What comes from a cluster of Dask is data, never code."""

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
