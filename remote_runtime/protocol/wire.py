"""The wire protocol between controller and target (both sides; Python 3.6 and newer).

One channel carries everything. The target's standard output belongs to the protocol.

Opening. The controller starts the bootstrap with a fresh nonce. The target writes, perhaps after
banners and shell noise, one line ``ccm1 NONCE STATUS DETAIL``:

- ``need``     the runtime is not cached; the controller answers with 8 bytes of length, big-endian,
               and what DETAIL names: ``zip``, or ``code``, the zip's modules compiled for an
               interpreter like the controller's; a second line follows;
- ``ready``    the runtime is running; frames follow at once in both directions;
- ``nopython`` no usable interpreter; DETAIL says which were tried and why each was refused;
- ``fault``    the bootstrap could not go on; DETAIL says why.

Frames. 4 bytes of length (of what follows), big-endian, then one type byte, then the payload:
``J`` is a JSON object with a string member ``t``; ``B`` is raw bytes that belong to the ``J``
frame before them. A frame of the target is at most ``MAX_FROM_TARGET`` bytes, of the controller
``MAX_FROM_CONTROLLER``.

Target to controller::

    hello   protocol, nonce, runtime (sha256 of the zip), python, pid, user, uid,
            boot (ID of this boot of the system; "" if unknown)
    facts   facts, unavailable {family: reason}, custom [{path, text}], warnings [text]
    answers answers [{name: value}]     to an ask, in its order; {error} for a failed one
    want    shas [sha256, ...]          blobs; before the first event, or when a resource runs
    packages shas [sha256, ...]         in a preview: asks for other hosts' findings on these
    package sha, contents               this host's findings on one left to it; null: nothing
    installed prints {sha256: print}    fingerprints of packages, see package_sharing.py
    render  id, index                   this resource runs now and has deferred templates that
                                        read files of the target
    content id, size | error            answer to read; B frames of `size` bytes in all follow
    file    path, name                  of ccm fetch: a file of the path with that number, its
                                        name the parts below it; B frames follow
    file_end whole                      the end of the file: complete, or broken off
    progress index, action              the current action of the resource at `index`
    passed                              a preview is done with a resource of a plan `before` its own
    past    receipt, state, results, started   the record of an earlier run, see run_record.py;
                                        state is "" if more of it follows
    event   seq, event                  a transaction event; seq counts from 1 without a gap
    stable  seq, id, at, groups         several events of unchanged resources; the plan has
                                        the rest of them; see unchanged_batch.py
    notice  level, text                 a line for people (waiting for a lock, a warning)
    ping                                heartbeat
    rebooting index, timeout, earlier   the resource at `index` is about to reboot the host, which
                                        is back within `timeout` seconds; `reboot` is the answer,
                                        and `earlier` comes back in the next `plan`
    done    events, cancelled, error?   the last frame; how many events were sent; `error` is
                                        {kind, message} when the run could not begin or go on

Controller to target::

    plan     see docs/design/wire-protocol.md
    ask      questions [{kind, of}]     lookups that the plan depends on, before it
    blob     sha, size | error          B frames of `size` bytes in all follow
    packages known {sha256: contents},  findings of two hosts, or of this one
             alone {sha256: contents},  findings of one other host; predictions are assumed
             left [sha256, ...]         for the target to find out, with what is in neither
    read     id, path, limit            read a file of the target for a deferred template
    rendered id, properties | error     the deferred properties, final
    reboot                              go ahead, the host will be waited for
    cancel  reason?                     end the command in flight, start nothing more
    ping                                heartbeat
    bye     recall?                     nothing to do (facts only), or `done` has arrived; `recall`
                                        asks for records of earlier runs, as that of a plan does

Either side that hears nothing for ``SILENCE`` seconds considers the other side dead.
"""

import struct
from typing import Any, Dict, Iterator, List, Union

from remote_runtime.errors import ProtocolError
from remote_runtime.stdlib_light import json_text

PROTOCOL = "ccm1"
MAX_FROM_TARGET = 1 << 20
MAX_FROM_CONTROLLER = 256 << 20
CHUNK = 256 << 10
PING_INTERVAL = 10.0
SILENCE = 30.0

Message = Dict[str, Any]
Frame = Union[Message, bytes]

_HEAD = struct.Struct(">IB")
_JSON, _BINARY = ord("J"), ord("B")


def encode(message: Message) -> bytes:
    """Return the frame of one message."""
    return encode_json(json_text.dumps(message).encode("ascii"))


def encode_json(payload: bytes) -> bytes:
    """Return the frame of a message that is JSON text already."""
    return _HEAD.pack(len(payload) + 1, _JSON) + payload


def encode_binary(payload: bytes) -> bytes:
    """Return the frame of raw bytes; the caller cuts them into pieces of at most ``CHUNK``."""
    return _HEAD.pack(len(payload) + 1, _BINARY) + payload


class Decoder:
    """Splits a stream of bytes into frames, with at most one frame and one read in memory.

    ``ProtocolError`` for a frame over ``limit`` bytes, an unknown frame type, text that is not a
    JSON object, or a message without ``t``. After an error, the decoder is not usable.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield every frame that ``data`` completes."""
        self.hold(data)
        while self.is_whole():
            yield self.take()  # and keeps no hold of it: facts are large, and the wait is long

    def hold(self, data: bytes) -> None:
        """Store received data, to be read later."""
        self._buffer += data

    def is_whole(self) -> bool:
        """Return whether all of the next frame has arrived."""
        if len(self._buffer) < _HEAD.size:
            return False
        length, kind = _HEAD.unpack_from(self._buffer)
        if kind not in (_JSON, _BINARY):
            raise ProtocolError("unknown frame type %d" % kind, kind="protocol.frame")
        if length < 1 or length > self._limit:
            raise ProtocolError(
                "a frame of %d bytes, at most %d are allowed" % (length, self._limit),
                kind="protocol.size",
            )
        end: int = _HEAD.size - 1 + length
        return len(self._buffer) >= end

    def take(self) -> Frame:
        """The next frame, which must be complete."""
        length, kind = _HEAD.unpack_from(self._buffer)
        end = _HEAD.size - 1 + length
        payload = bytes(self._buffer[_HEAD.size : end])
        del self._buffer[:end]
        return payload if kind == _BINARY else _parse(payload)


def _parse(payload: bytes) -> Message:
    try:
        message = json_text.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a frame that is not JSON: %s" % error, kind="protocol.json") from error
    if not isinstance(message, dict) or not isinstance(message.get("t"), str):
        raise ProtocolError("a message without a type", kind="protocol.json")
    return message


def split(data: bytes) -> List[bytes]:
    """Cut bytes into binary frames of at most ``CHUNK`` bytes each."""
    return [encode_binary(data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)]
