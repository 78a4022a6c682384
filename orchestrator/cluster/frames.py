"""The frames between controller, relay and remote worker: a byte for the kind, then data (both
sides).

The controller puts them into the queue of a worker; the relay puts them, after the name of the
worker, into the queue of the run. Between relay and remote worker, they are messages of a
``Channel``.

    START   relay → worker: JSON {"run": id, "key": the controller's public key in hex}
    HELLO   worker → controller: its public key
    SEALED  either way: sealed for the other side
    BUNDLE  worker → relay → controller: requests the site with this hash; back: its bytes
    ENDED   relay → controller: why the worker ended
    BEAT    from the controller to its relays, and between relay and worker each second
    CLOSE   controller → relay: end the worker
"""

START, HELLO, SEALED, BUNDLE, ENDED, BEAT, CLOSE = b"0", b"k", b"s", b"=", b"e", b"b", b"x"

HEARTBEAT_INTERVAL = 1.0  # seconds between two
SILENCE = 30.0  # seconds of silence after which a side counts as gone
MAX_WAITING = 64  # frames that wait in the queue of a run; who puts more waits, too


def up_queue(run_id: str) -> str:
    """The name of the queue that leads to the controller of a run."""
    return f"ccm-{run_id}"


def down_queue(run_id: str, worker: str) -> str:
    """The name of the queue that leads to a worker of a run."""
    return f"ccm-{run_id}-{worker}"


def topic(run_id: str) -> str:
    """The topic for status messages of the workers of a run."""
    return f"ccm-{run_id}"
