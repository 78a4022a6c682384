"""The names that an expression may use, and the values behind them (controller)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from orchestrator.language.errors import EvaluationError, FactsUnavailableError, NeedFileError
from orchestrator.language.files import Folder
from orchestrator.language.paths import MISSING, BadPathError, find, split_path
from remote_runtime.errors import CcmError

if TYPE_CHECKING:
    from orchestrator.registration.lookup import Lookup

VARIABLES = ("Facts", "Data", "Environ", "Host")
FUNCTIONS = ("lookup", "file", "readFile", "template", "jet", "registrations")
MAX_NESTING = 10

_NO_DEFAULT = object()


class Facts(dict[str, Any]):
    """The facts of one host; touching a family that could not be gathered raises."""

    def __init__(self, facts: Mapping[str, Any], unavailable: Mapping[str, str]) -> None:
        super().__init__(facts)
        self.unavailable = {k: v for k, v in unavailable.items() if k not in facts}

    def __missing__(self, key: str) -> NoReturn:
        self.refuse(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        self.refuse(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        self._refuse_any()
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        self.refuse(key)
        return super().get(key, default)

    def keys(self) -> Any:
        self._refuse_any()
        return super().keys()

    def values(self) -> Any:
        self._refuse_any()
        return super().values()

    def items(self) -> Any:
        self._refuse_any()
        return super().items()

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError where ``key`` is a family that was not gathered."""
        if self.unavailable and key in self.unavailable:
            raise FactsUnavailableError(str(key), self.unavailable[str(key)])

    def _refuse_any(self) -> None:
        for key in self.unavailable:
            self.refuse(key)


class Scope:
    """What one evaluation sees. Cheap to make; holds no state of an evaluation but its nesting.

    ``lenient``: a missing path is empty instead of an error (data, overrides, order).
    ``target_files``: texts of the target by absolute path; an absolute path that is not in it
    raises NeedFileError. ``literals``: the texts spelt out in the expression at hand. ``registry``
    answers ``registrations()``.
    """

    def __init__(
        self,
        facts: Facts,
        data: Any,
        environ: Mapping[str, str],
        host: Mapping[str, Any],
        folder: Folder,
        lenient: bool = False,
        target_files: Mapping[str, str] | None = None,
        registry: Lookup | None = None,
    ) -> None:
        self.facts = facts
        self.data = data
        self.environ = environ
        self.host = host
        self.folder = folder
        self.lenient = lenient
        self.target_files = {} if target_files is None else target_files
        self.registry = registry
        self._nesting = 0

    def names(self, literals: frozenset[str]) -> dict[str, Any]:
        """The variables and functions of one expression."""
        return {
            "Facts": self.facts,
            "Data": self.data,
            "Environ": self.environ,
            "Host": self.host,
            "lookup": self.lookup,
            "file": lambda path: self.file(path, literals),
            "readFile": lambda path: self.file(path, literals),
            "template": lambda text: self.template(text, literals),
            "jet": lambda text, *signs: self.jet(text, literals, *signs),
            "registrations": self.registrations,
        }

    def lookup(self, path: str, default: Any = _NO_DEFAULT) -> Any:
        """The value at a path below facts, data or environ, or the default; EvaluationError."""
        if not isinstance(path, str):
            raise EvaluationError(f"lookup() takes a path as text, not {path!r}")
        try:
            root, rest, parts = split_path(path)
            tree = getattr(self, root)
            if tree is self.facts and (parts is None or not rest):
                self._refuse_for_query(rest)
            found = tree if not rest else find(tree, rest, parts)
        except BadPathError as error:
            raise EvaluationError(f"lookup({path!r}): {error}", kind="template.path") from error
        if found is not MISSING:
            return found
        if default is not _NO_DEFAULT:
            return default
        if self.lenient:
            return ""
        raise EvaluationError(f"lookup({path!r}): no such path", kind="template.undefined")

    def registrations(
        self, cluster: str, protocol: str, service: str, address: str
    ) -> list[dict[str, Any]]:
        """The registered endpoints that match, ``*`` standing for any; EvaluationError."""
        from orchestrator.registration.entry import Query

        query = Query(cluster, protocol, service, address)
        if not all(isinstance(part, str) for part in query):
            raise EvaluationError("registrations() takes four texts, such as '*'")
        if self.registry is None:
            raise EvaluationError("registrations() cannot be asked here")
        try:
            return self.registry(query)
        except CcmError as error:
            kind = "template.registrations"
            raise EvaluationError(f"registrations(): {error}", kind=kind) from error

    def _refuse_for_query(self, query: str) -> None:
        first = query.split(".", 1)[0].split("|", 1)[0]
        self.facts.refuse(first)
        if not first or any(mark in first for mark in "*?@#{["):
            self.facts._refuse_any()

    def file(self, path: str, literals: frozenset[str]) -> str:
        """The text of a file: beside the manifest, or on the target where the path is absolute."""
        if not isinstance(path, str) or not path:
            raise EvaluationError(f"file() takes a path, not {path!r}", kind="template.file")
        if not path.startswith("/"):
            return ManifestText(self.folder.read(path, path in literals))
        if path not in self.target_files:
            raise NeedFileError(path)
        return self.target_files[path]

    def template(self, text: str, literals: frozenset[str]) -> str:
        """Render a file beside the manifest, or a text that the manifest itself spells out.

        What came from a host is never a template: a computed text is refused, and so is a file of
        the target.
        """
        from orchestrator.expressions.scan import holds_expression
        from orchestrator.expressions.template import Template

        source, name = self._own("template()", text, literals, holds_expression)
        if name.endswith(".jet"):
            return self.jet(text, literals)
        if self._nesting >= MAX_NESTING:
            raise EvaluationError(f"template() is nested deeper than {MAX_NESTING} levels")
        self._nesting += 1
        try:
            return Template.parse_file(source, name, self.lenient).render_text(self)
        finally:
            self._nesting -= 1

    def jet(self, text: str, literals: frozenset[str], left: str = "[[", right: str = "]]") -> str:
        """Render a Jet template; what may be one is the same as for ``template``."""
        from orchestrator.language.jet import Delimiters, library_of
        from remote_runtime.errors import InputError

        delimiters = Delimiters(left, right)
        if delimiters.problem():
            raise EvaluationError(f"jet(): {delimiters.problem()}")
        openers = (left, *delimiters.comments())
        source, name = self._own(
            "jet()", text, literals, lambda whole: any(sign in whole for sign in openers)
        )
        try:
            found = library_of(self.folder, delimiters).parse(source, name)
        except InputError as error:
            raise EvaluationError(str(error)) from error
        return found.render(self)

    def _own(
        self,
        function: str,
        text: str,
        literals: frozenset[str],
        is_template: Callable[[str], bool],
    ) -> tuple[str, str]:
        """The source of a template and its name, where the user has written it."""
        if not isinstance(text, str) or text.startswith("/"):
            message = f"{function} takes a file beside the manifest or a text of the manifest"
            raise EvaluationError(f"{message}, not {text!r}")
        own = text in literals or isinstance(text, ManifestText)
        if isinstance(text, ManifestText) or "\n" in text or is_template(text):
            if not own:
                message = (
                    f"{function} renders only what the manifest spells out, never a computed text"
                )
                raise EvaluationError(message, kind="template.tainted")
            return str(text), function
        return self.folder.read(text, own), text


class ManifestText(str):
    """A text read beside the manifest: the user's own, so ``template()`` may render it."""

    __slots__ = ()
