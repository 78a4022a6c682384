"""What others in a cluster of Dask send is data; nothing that could open more is left."""

import subprocess
import sys

import pytest

HEAD = """
import asyncio, functools, pickle, sys, types
import distributed.client, distributed.scheduler, distributed.shuffle
from distributed import Worker
from distributed.protocol import core, serialize
from distributed.protocol.serialize import Serialize, Serialized, ToPickle, to_serialize
from orchestrator.cluster import dask_api, pickle_guard
from remote_runtime.errors import CcmError

class Code:
    def __reduce__(self):
        return print, ("opened",)

evil = pickle.dumps(Code())

def say(what):
    try:
        print(what())
    except ValueError as error:
        print(type(error).__name__)
"""


def _said(program: str) -> list[str]:
    """What a process of its own prints: what is refused stays refused in it."""
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


FORMS = """
dask_api.refuse_pickles()
forms = [ToPickle(Code()), Serialize(Code())]
for family in ("pickle", "dask", "cuda", "error", "msgpack", None, "other"):
    header = {"serializer": family, "type-serialized": evil, "writeable": (), "sub-header": {}}
    forms.append(Serialized(header, [evil]))
inner = [({"serializer": "pickle", "writeable": ()}, [evil])]
forms.append(Serialized({"is-collection": True, "sub-headers": [inner[0][0]],
                         "frame-lengths": [1], "type-serialized": "list"}, [evil]))
for form in forms:
    frames = [bytes(frame) for frame in core.dumps({"x": [form]})]
    say(lambda: distributed.protocol.loads(frames))
    say(lambda: type(distributed.protocol.loads(frames, deserialize=False)["x"][0]).__name__)
"""


def test_no_form_of_an_object_is_opened() -> None:
    """Neither at once nor where Dask would wait until it is asked to."""
    assert _said(FORMS) == ["PickleRefusedError", "OpaqueValue"] * 10


PLAIN = """
dask_api.refuse_pickles()
message = {"data": b"bytes", "set": {1, 2}, "list": [1, None, "text"], "status": Worker}
from distributed.core import Status
message["status"] = Status.running
print(core.loads(core.dumps(message)))
import msgpack
bad = {"__Enum__": True, "__module__": "distributed.cli.dask_ssh", "__name__": "x", "name": "y"}
print(core.loads([msgpack.dumps(bad)]), "distributed.cli.dask_ssh" in sys.modules)
"""


def test_plain_data_is_what_it_was() -> None:
    """A member of an enumeration is its name, and no module is imported for it."""
    plain, foreign = _said(PLAIN)
    assert plain == (
        "{'data': b'bytes', 'set': {1, 2}, 'list': (1, None, 'text'), 'status': 'running'}"
    )
    assert foreign == "y False"


LEFT = """
originals = {pickle.loads, pickle.load, pickle.Unpickler, distributed.protocol.pickle.loads}
dask_api.refuse_pickles()
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] in ("distributed", "dask", "cloudpickle"):
        for each, value in list(vars(module).items()):
            opener = value if callable(value) else getattr(value, "loads", None)
            try:
                if opener in originals:
                    print(name, each)
            except TypeError:
                pass
"""


def test_no_module_of_dask_keeps_what_opens_pickles() -> None:
    """Under whatever name it was imported there."""
    assert _said(LEFT) == []


HIDDEN = """
original = distributed.protocol.pickle.loads

class Holder:
    opener = staticmethod(original)

def outer():
    held = original
    return lambda: held

hidden = {"class": Holder, "closure": outer(), "default": lambda x=original: x,
          "list": [[original]], "partial": functools.partial(original),
          "dict": {"a": (original,)}, "module": [pickle]}
Holder.__module__ = "distributed.hidden"
module = sys.modules["distributed.hidden"] = types.ModuleType("distributed.hidden")
setattr(module, sys.argv[1], hidden[sys.argv[1]])
try:
    dask_api.refuse_pickles()
    print("overlooked")
except CcmError as error:
    print(error.message)
"""


@pytest.mark.parametrize(
    "place", ["class", "closure", "default", "list", "partial", "dict", "module"]
)
def test_nothing_is_received_where_a_way_to_open_pickles_is_left(place: str) -> None:
    """Another version of Dask may keep it in another place, which is named."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + HIDDEN, place], capture_output=True, text=True
    )
    assert f"can open pickles in distributed.hidden.{place}, so" in done.stdout, done.stderr


LATER = """
dask_api.refuse_pickles()
import _pickle, io
say(lambda: pickle.loads(evil))
say(lambda: _pickle.loads(evil))
say(lambda: pickle._loads(evil))
say(lambda: pickle.Unpickler(io.BytesIO(evil)).load())
say(lambda: pickle.loads(pickle.dumps({"data": [1, b"2"]})))
"""


def test_what_is_loaded_later_can_open_no_pickle_that_names_something() -> None:
    """Python's own functions refuse, too; only plain data comes of them."""
    assert _said(LATER) == ["PickleRefusedError"] * 4 + ["{'data': [1, b'2']}"]


BOUND = """
from distributed.comm import connect, listen

async def main():
    async def serve(comm):
        await comm.read()
        await comm.write({"data": b"x" * size})
    for size in (1_000, 2_000_000):
        async with listen("tcp://127.0.0.1:0", serve) as there:
            comm = await connect(there.contact_address)
            await comm.write({})
            try:
                print(len((await comm.read())["data"]))
            except ValueError as error:
                print(type(error).__name__, comm.closed())

pickle_guard.MAX_BYTES = 1_000_000
dask_api.refuse_pickles()
asyncio.run(main())
"""


def test_a_message_that_is_too_large_is_not_read() -> None:
    """Its connection is closed, and it takes no memory."""
    assert _said(BOUND) == ["1000", "MessageTooLargeError True"]
