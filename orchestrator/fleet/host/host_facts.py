"""The facts and answers of a host before its plan is made (controller).

Everything here comes from the host: it is data, and never used as a template or a path on the
controller.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orchestrator.support.plain_text import one_line, plain_json_value, plain_value, with_marks
from remote_runtime.errors import CcmError, ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.version import VERSION

MAX_CUSTOM = 1 << 20
_HELLO = {"python": str, "pid": int, "user": str, "uid": int, "boot": str}


Question = dict[str, Any]
Answer = Mapping[str, Any]
MAX_ANSWERS = 64
_MAX_MEMBERS = 20


class NeedAnswersError(CcmError):
    """A host's plan needs answers to lookups: a signal, not a failure.

    The caller sends these ``questions`` to the host, by the keys of their answers, and plans again.
    """

    default_kind = "ask"

    def __init__(self, questions: Mapping[str, Question]) -> None:
        examples = ", ".join(f"{one['kind']} {one['of']}" for one in [*questions.values()][:3])
        super().__init__(f"the plan needs lookups on the host: {examples}")
        self.questions = dict(questions)


class HostFacts(NamedTuple):
    """The facts of one host; there are none of a host that was not contacted.

    ``unavailable`` maps a family to the reason why it is missing; ``custom`` are (path on the
    target, content) of custom fact files, in ascending precedence; ``hello`` is the greeting of the
    runtime, ``host_key`` the fingerprint of the verified host key, "" on this machine; ``answers``
    are those of lookups, by their questions as JSON, None if the host cannot be queried.
    """

    facts: Mapping[str, Any] = {}
    unavailable: Mapping[str, str] = {}
    custom: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()
    hello: Mapping[str, Any] = {}
    host_key: str = ""
    answers: Mapping[str, Answer] | None = None


def check_hello(message: dict[str, Any], nonce: str, runtime: str) -> dict[str, Any]:
    """Return the hello if it has the same protocol, the nonce and the digest of the sent
    runtime."""
    if message["t"] != "hello":
        raise ProtocolError(f"expected hello, got {one_line(message['t'], 40)!r}")
    if message.get("protocol") != wire.PROTOCOL:
        theirs = one_line(str(message.get("protocol")), 40)
        raise ProtocolError(
            f"the host uses protocol {theirs!r}, ccm {VERSION} uses {wire.PROTOCOL!r}",
            kind="protocol.version",
        )
    if message.get("nonce") != nonce:
        raise ProtocolError("hello belongs to another run", kind="protocol.nonce")
    if message.get("runtime") != runtime:
        raise ProtocolError("the host runs a different runtime", kind="protocol.runtime")
    hello = {key: message.get(key) for key in _HELLO}
    hello["boot"] = message.get("boot", "")
    if any(type(hello[key]) is not kind for key, kind in _HELLO.items()):
        raise ProtocolError("hello does not name the user of the run", kind="protocol.hello")
    return {k: one_line(v, 80) if isinstance(v, str) else plain_value(v) for k, v in hello.items()}


def check_facts(message: dict[str, Any], hello: dict[str, Any]) -> HostFacts:
    """Return the content of the facts frame; ProtocolError for invalid members."""
    if message["t"] != "facts":
        raise ProtocolError(f"expected facts, got {one_line(message['t'], 40)!r}")
    facts, unavailable = message.get("facts"), message.get("unavailable", {})
    custom, warnings = message.get("custom", []), message.get("warnings", [])
    if not isinstance(facts, dict) or not isinstance(unavailable, dict):
        raise ProtocolError("facts are not an object", kind="protocol.facts")
    if not isinstance(custom, list) or not isinstance(warnings, list):
        raise ProtocolError("custom facts and warnings are not lists", kind="protocol.facts")
    return HostFacts(
        facts=plain_json_value(facts),
        unavailable={one_line(str(k), 80): one_line(str(v)) for k, v in unavailable.items()},
        custom=[_custom(entry) for entry in custom],
        warnings=[one_line(str(text)) for text in warnings[:100]],
        hello=hello,
        answers={},
    )


def check_answers(message: dict[str, Any], count: int) -> list[Answer]:
    """Return the answers of the host to this number of questions; ProtocolError for anything
    else."""
    answers = message.get("answers")
    if not isinstance(answers, list) or len(answers) != count:
        raise ProtocolError(f"expected {count} answers to lookups", kind="protocol.answers")
    return [_answer(entry) for entry in answers]


def _answer(entry: Any) -> Answer:
    if not isinstance(entry, dict) or len(entry) > _MAX_MEMBERS:
        raise ProtocolError("an answer is not an object", kind="protocol.answers")
    if any(not isinstance(value, str | int) for value in entry.values()):
        raise ProtocolError("an answer is neither text nor a number", kind="protocol.answers")
    if "error" in entry:
        return {"error": one_line(str(entry["error"]))}
    marked = {key: with_marks(one) if isinstance(one, str) else one for key, one in entry.items()}
    answer: Answer = plain_value(marked)
    return answer


def _custom(entry: Any) -> tuple[str, str]:
    path, text = (entry.get("path"), entry.get("text")) if isinstance(entry, dict) else (None, None)
    if not isinstance(path, str) or not isinstance(text, str) or len(text) > MAX_CUSTOM:
        raise ProtocolError("a custom fact is not a path with text", kind="protocol.facts")
    return one_line(path), text
