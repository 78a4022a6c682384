"""Renders one resource for one host (controller)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from orchestrator.expressions import (
    EvaluationError,
    Expression,
    FactsUnavailableError,
    NeedFileError,
    Scope,
    render_value,
)
from orchestrator.expressions.template import Template
from orchestrator.language.value_types import as_text
from orchestrator.manifest.checks.control_conditions import coerced, condition_problems
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.compiled_resource import CompiledResource, compile_resource
from orchestrator.planning.content.blob_references import SOURCE, BlobReferences
from orchestrator.planning.content.blobs import Blob
from orchestrator.planning.rendered_check import check_final, check_name, coerce, guessed_numbers
from orchestrator.planning.shared_resources import SharedResources
from remote_runtime.errors import Problem

_NOTHING_LATE: Hashable = (frozenset(), "", False)


def filled(
    declared: DeclaredResource, scope: Scope, alike: SharedResources, index: int
) -> CompiledResource | None:
    """A resource that equals that of another host except for its rendered strings; None otherwise,
    or if there is a problem.
    """
    outlook = alike.outlook(declared)
    if not outlook.alone_texts:
        return None
    values, kinds = declared.values, declared.type.properties
    try:
        found = tuple([render_value(values[key], scope) for key in outlook.alone_texts])
        resource = alike.latest(declared, index, found) if outlook.repeats else None
        if resource is not None:
            return resource
        texts = []
        for key, text in zip(outlook.alone_texts, found):
            if text.__class__ is not str or kinds[key].complaints(text):
                return None
            texts.append(text.encode("utf-8"))
    except (EvaluationError, NeedFileError, UnicodeEncodeError):
        return None
    resource = alike.get(_key(declared, index, name=declared.name), tuple(texts), outlook)
    if resource is not None and outlook.repeats:
        alike.note(declared, index, found, resource)
    return resource


class Rendering:
    """Renders one resource for one host; any of the ``problems`` prevents the host's plan.

    If its templates have the same values as on another host, the compiled resource of that host is
    reused. ``without`` is a property to omit.
    """

    def __init__(
        self,
        declared: DeclaredResource,
        scope: Scope,
        *,
        blob_references: BlobReferences,
        alike: SharedResources,
        without: str = "",
    ) -> None:
        self._declared = declared
        self._scope = scope
        self._travel = blob_references
        self._alike = alike
        self._outlook = alike.outlook(declared)
        self._values = {k: v for k, v in declared.values.items() if k != without}
        self._open: set[str] = set()
        self._deferred_error = ""
        self._deferred_render = False
        self._asked: dict[str, Any] = {}
        self.problems: list[Problem] = []

    def compile(self, index: int) -> CompiledResource | None:
        """The compiled resource, or None with ``problems``."""
        managed = self._managed()
        self._ask(managed)
        name = self._name()
        self._leave_idle()
        self._render_now()
        self._render_deferred(managed)
        if self.problems:
            return None
        outlook = self._outlook
        texts = self._texts() if outlook.shares else None
        if texts is None:
            return self._compile(index, name, managed)
        decided = tuple([_exact(self._values.get(key)) for key in outlook.decide])
        late: Hashable = (frozenset(self._open), self._deferred_error, self._deferred_render)
        late = (late, repr(self._asked)) if self._asked else late
        key = _key(self._declared, index, name=name, managed=managed, decided=decided, late=late)
        resource = self._alike.get(key, texts, outlook)
        if resource is None:
            resource = self._compile(index, name, managed)
            if resource is not None:
                self._alike.keep(key, texts, resource, outlook)
        return resource

    def _texts(self) -> tuple[bytes, ...] | None:
        """Return the strings that become blobs, in order; None if one of them cannot become
        a blob.
        """
        wanted = self._outlook.texts - self._open
        try:
            return tuple([v.encode("utf-8") for k, v in self._values.items() if k in wanted])
        except (AttributeError, UnicodeEncodeError):
            return None

    def _compile(self, index: int, name: str, managed: bool) -> CompiledResource | None:
        declared = self._declared
        blobs = self._check(name)
        if (
            managed
            and declared.type.tree in self._values
            and not (self.problems or self._deferred_error)
        ):
            blobs += self._tree()
        if self.problems:
            return None
        for key in self._open:
            self._values.pop(key, None)
        return compile_resource(
            index,
            declared,
            name=name,
            values=self._values,
            blobs=blobs,
            managed=managed,
            conditions=self._asked,
            deferred_error=self._deferred_error,
            deferred_render=self._deferred_render and not self._deferred_error,
        )

    def name_only(self, index: int) -> CompiledResource:
        """The resource with only its name, if it is not managed and its name is literal."""
        declared = self._declared
        alias = {"alias": declared.values.get("alias")}
        return compile_resource(
            index, declared, name=str(declared.name), values=alias, blobs=(), managed=False
        )

    def _managed(self) -> bool:
        control = self._declared.control
        if control is None:
            return True
        wanted = control.if_ is None or self._condition(control.if_)
        return wanted and not (control.unless is not None and self._condition(control.unless))

    def _ask(self, managed: bool) -> None:
        """Render the control conditions that run on the host."""
        control = self._declared.control
        if control is None or not managed:
            return
        for key, value in control.asked.items():
            try:
                rendered = coerced(render_value(value, self._scope))
            except (EvaluationError, NeedFileError) as error:
                self._fail("control", error)
                continue
            where = self._declared.where(("control", key))
            self.problems += [
                Problem(f"{self._declared.id}: {message}", where, "", "plan")
                for message in condition_problems(key, rendered)
            ]
            self._asked[key] = rendered

    def _condition(self, expression: Expression) -> bool:
        try:
            value = expression.evaluate(self._scope)
        except (EvaluationError, NeedFileError) as error:
            self._fail("control", error)
            return False
        if isinstance(value, bool):
            return value
        source = expression.source.strip()
        wrong = f"control must return true or false, but {source} returns {value!r}"
        message = f"{self._declared.id}: {wrong}"
        hint = "compare it with =="
        self.problems.append(Problem(message, expression.where, hint, "template.control"))
        return False

    def _name(self) -> str:
        name = self._declared.name
        if isinstance(name, str):
            return name
        try:
            text = as_text(name.render(self._scope))
        except (EvaluationError, NeedFileError) as error:
            self._fail("name", error)
            return ""
        self.problems += check_name(self._declared, text)
        return text

    def _leave_idle(self) -> None:
        """Drop properties that have no meaning with an ``ensure`` from a template."""
        if "ensure" in self._declared.templated:
            self._now("ensure")
            for key in self._declared.idle(self._values["ensure"]):
                self._values.pop(key, None)

    def _render_now(self) -> None:
        for key in self._outlook.now:
            if key in self._values:
                self._now(key)

    def _now(self, key: str) -> None:
        made = self._values[key]
        try:
            value = render_value(made, self._scope)
            guessed = guessed_numbers(self._declared, key, made, self._scope)
        except (EvaluationError, NeedFileError) as error:
            self._fail(key, error)
            return
        self.problems += guessed
        self._values[key], problems = coerce(self._declared, key, value)
        self.problems += problems

    def _render_deferred(self, managed: bool) -> None:
        for key in self._outlook.deferred:
            if key not in self._values:
                continue
            if not managed:
                self._leave_open(key)
                continue
            try:
                value = render_value(self._values[key], self._scope)
            except NeedFileError:
                self._deferred_render = True
                self._leave_open(key)
                continue
            except FactsUnavailableError as error:
                self._fail(key, error)
                continue
            except EvaluationError as error:
                self._defer(key, f"{key}: {error}")
                continue
            self._values[key], problems = coerce(self._declared, key, value)
            for problem in problems:
                self._defer(key, _told(problem, self._declared))

    def _leave_open(self, key: str) -> None:
        self._open.add(key)
        self._values[key] = self._declared.raw[key]

    def _defer(self, key: str, message: str) -> None:
        self._leave_open(key)
        self._deferred_error = self._deferred_error or message

    def _check(self, name: str) -> tuple[Blob, ...]:
        deferred = self._declared.type.deferred
        for key, problem in check_final(self._declared, name, self._values, frozenset(self._open)):
            if key in deferred and key in self._declared.templated:
                self._defer(key, _told(problem, self._declared))
            else:
                self.problems.append(problem)
        known = {k: v for k, v in self._values.items() if k not in self._open}
        try:
            blobs = self._travel.replace(self._declared, known)
        except EvaluationError as error:
            literal = not (self._declared.templated or self._declared.control)
            if error.kind == SOURCE and literal:
                self._fail("source", error)
            else:
                self._deferred_error = self._deferred_error or str(error)
                self._open.update(deferred)
            return ()
        gone = [key for key in self._values if key not in known and key not in self._open]
        for key in gone:  # a file whose content is now another property
            del self._values[key]
        self._values.update(known)
        return blobs

    def _tree(self) -> tuple[Blob, ...]:
        """The files of a directory of templates. If it cannot be rendered, its resource fails, like
        one with a deferred template.
        """
        try:
            return self._travel.trees.replace(self._declared, self._values, self._scope)
        except FactsUnavailableError as error:
            self._fail(self._declared.type.tree, error)
        except EvaluationError as error:
            self._deferred_error = str(error)
        return ()

    def _fail(self, key: str, error: EvaluationError | NeedFileError) -> None:
        declared = self._declared
        message, where = error.message, declared.where((key,))
        if isinstance(error, NeedFileError):
            message = f"{key} cannot read {error.path!r}, a file on the target"
        elif error.where is not None:
            where = error.where
        self.problems.append(Problem(f"{declared.id}: {key}: {message}", where, "", error.kind))


def _key(
    declared: DeclaredResource,
    index: int,
    *,
    name: Hashable,
    managed: bool = True,
    decided: tuple[Hashable, ...] = (),
    late: Hashable = _NOTHING_LATE,
) -> Hashable:
    """Return all values on which the compiled resource depends. Its blobs are omitted, because they
    are neither checked nor compiled.

    ``decided`` are the values that affect the result, ``late`` are the templates that are rendered
    on demand.
    """
    return declared, index, name, managed, decided, late


def _exact(value: Any) -> Hashable:
    """A key that is equal only for equal values of equal types."""
    return value if value.__class__ is str else (value.__class__, repr(value))


def render_deferred(declared: DeclaredResource, scope: Scope, ensure: Any) -> dict[str, Any]:
    """The deferred properties when the resource runs; EvaluationError, NeedFileError.

    ``ensure`` is its rendered value.
    """
    values: dict[str, Any] = {}
    idle = declared.idle(ensure)
    for key in declared.type.deferred:
        if key not in declared.values or key in idle:
            continue
        value = render_value(declared.values[key], scope)
        value, problems = coerce(declared, key, value)
        if problems:
            raise EvaluationError(_told(problems[0], declared))
        values[key] = value
    return values


def names_vary(declared: DeclaredResource) -> bool:
    """Whether its name or alias may differ from host to host."""
    varies = isinstance(declared.name, Template) or "alias" in declared.templated
    return varies or declared.foreach is not None


def _told(problem: Problem, declared: DeclaredResource) -> str:
    """The problems of a resource for its own event, which already names the resource."""
    message = problem.message.removeprefix(f"{declared.id}: ")
    return f"{message} ({problem.where})" if problem.where else message
