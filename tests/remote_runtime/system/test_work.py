"""How much work a run that finds everything as desired has with each resource, by its calls."""

import hashlib
import os
from typing import Any, Dict, List

from remote_runtime.cancellation import Cancellation
from remote_runtime.protocol import wire
from remote_runtime.session import Session
from tests.calls import calls_of
from tests.remote_runtime.fakes import DirectoryTest

_FEW, _MANY = 10, 60


class WorkTest(DirectoryTest):
    def files(self, count: int) -> List[Dict[str, Any]]:
        found = []
        for number in range(count):
            content = b"listen = %d\n" % number
            path = self.write("f%d" % number, content)
            blob = {"$blob": hashlib.sha256(content).hexdigest(), "size": len(content)}
            owner = {"owner": str(os.geteuid()), "group": str(os.getegid())}
            properties = dict(owner, ensure="present", content=blob, mode="0644")
            found.append({"type": "file", "name": path, "properties": properties})
        return found

    def told(self, resources: List[Dict[str, Any]]) -> List[Any]:
        """What a session says of such a plan."""
        reading, sending = os.pipe()
        receiving, writing = os.pipe()
        cancellation = Cancellation()
        try:
            plan = {"t": "plan", "manifest": "site", "resources": resources}
            plan["digest"] = str(len(resources))
            os.write(sending, wire.encode(plan))
            session = Session(
                reading,
                writing,
                nonce="0" * 32,
                runtime_sha="0" * 64,
                cancellation=cancellation,
                lock=self.path("lock"),
                state=self.path("state"),
            )
            session.serve()
            said = os.read(receiving, 1 << 16)
            return list(wire.Decoder(1 << 20).feed(said[said.index(b"\n") + 1 :]))
        finally:
            os.close(sending)
            self.assertTrue(session._channel._threads[0].join(20))  # it reads until then
            for descriptor in (reading, receiving, writing):
                os.close(descriptor)
            for descriptor in (cancellation.wakeup, cancellation._signal):
                os.close(descriptor)

    def calls_for(self, count: int) -> int:
        """How many calls a session takes that finds so many files as desired, once on record."""
        resources = self.files(count)
        self.told(resources)
        frames: List[Any] = []
        calls = calls_of(lambda: frames.extend(self.told(resources)))
        self.assertEqual(frames[-1]["events"], count)
        kinds = [frame["t"] for frame in frames]
        self.assertIn("stable", kinds)
        self.assertNotIn("event", kinds)
        return calls

    def test_a_file_that_is_as_desired(self) -> None:
        """It is looked at, hashed, looked at again at its turn and told with others."""
        each = (self.calls_for(_MANY) - self.calls_for(_FEW)) / (_MANY - _FEW)
        self.assertLess(each, 265)
