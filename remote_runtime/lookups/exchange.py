"""Answers the lookups of the controller before it makes the plan (target)."""

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence

from remote_runtime.errors import CcmError, ProtocolError
from remote_runtime.lookups.answers import Answer, Question, answer, is_of_type, item_of
from remote_runtime.plan_item import Item
from remote_runtime.registry import Registry
from remote_runtime.stdlib_light import json_text

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.lookups import Known
    from remote_runtime.protocol.channel import Channel

MAX_LOOKUPS = 64  # lookups of one host
ROOM = (1 << 20) - (64 << 10)  # bytes of JSON that the answers to one message may take


def reply(
    message: Dict[str, Any],
    channel: "Channel",
    known: "Known",
    context_for: "Callable[[Sequence[Item]], Context]",
) -> None:
    """Answer the questions of an ``ask`` frame with an ``answers`` frame; ``known`` stores both.

    ``context_for`` creates the context in which resources of types are looked up.
    ``ProtocolError``.
    """
    questions = _questions(message)
    if len(known) + len(questions) > MAX_LOOKUPS:
        raise ProtocolError("more than %d lookups" % MAX_LOOKUPS)
    context = context_for([item_of(one) for one in questions if is_of_type(one)])
    registry = Registry(context)
    answers = [_answer(one, context, registry) for one in questions]
    _fit(answers)
    known.extend(zip(questions, answers))
    channel.send({"t": "answers", "answers": answers}, now=True)


def _answer(question: Question, context: "Context", registry: Registry) -> Answer:
    try:
        return answer(question, context, registry)
    except CcmError:
        raise
    except Exception as error:  # a custom type may raise anything
        return {"error": "%s: %s" % (type(error).__name__, error)}


def _questions(message: Dict[str, Any]) -> List[Question]:
    questions = message.get("questions")
    if not isinstance(questions, list):
        raise ProtocolError("an ask frame without questions")
    for one in questions:
        valid = isinstance(one, dict) and isinstance(one.get("kind"), str)
        if not (valid and isinstance(one.get("of"), str)):
            raise ProtocolError("a question without its kind or subject")
    return questions


def _fit(answers: List[Answer]) -> None:
    """Replace the largest answers by a reason until all of them fit into one frame."""
    sizes = [len(json_text.dumps(one)) + 1 for one in answers]
    while sum(sizes) > ROOM:
        at = max(range(len(sizes)), key=lambda number: sizes[number])
        answers[at] = {
            "error": (
                "it has %d bytes, too many to send: all answers together may have at most 1 MiB"
            )
            % sizes[at]
        }
        sizes[at] = len(json_text.dumps(answers[at])) + 1
