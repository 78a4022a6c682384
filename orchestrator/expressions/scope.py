"""The names that an expression may use, and their values (controller)."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.expressions.environment_variables import CCM_VARIABLES, Environ
from orchestrator.expressions.inventory_view import NO_INVENTORY, InventoryView
from orchestrator.language.errors import EvaluationError, NeedFileError, NeedSecretsError
from orchestrator.language.facts import Facts
from orchestrator.language.lookup_answers import NO_ANSWERS, Answers
from orchestrator.language.lookup_paths import MISSING, BadPathError, find, split_path, suggestion
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import CcmError
from remote_runtime.reporting.masking import SHORTEST, strings_of

if TYPE_CHECKING:
    from orchestrator.registration.key_value import KeyValueLookup
    from orchestrator.registration.lookup import RegistrationLookup
    from orchestrator.secrets.lookup import SecretLookup

FUNCTIONS = ("lookup", "file", "readFile", "template", "jet", "registrations", "kvGet", "secret")

_NO_DEFAULT = object()


class Renderers(NamedTuple):
    """The implementations of ``template()`` and ``jet()``, which evaluate further expressions.

    Both take the scope, the literal strings of the current expression, and the arguments of the
    call, whose keywords are additional names.
    """

    template: Callable[..., str]
    jet: Callable[..., str]


class Scope(NamedTuple):
    """The variables of one evaluation. Cheap to create; has no state of an evaluation.

    ``lenient``: a missing path is empty instead of an error (data, overrides, order).
    ``target_files`` has the content of files on the target by absolute path; other absolute paths
    raise NeedFileError. ``registry`` answers ``registrations()``, and ``buckets`` answers
    ``kvGet()``. ``loop`` has the names of one ``foreach`` iteration. ``inventory`` has the other
    hosts, and ``asked`` the host's answers to the manifest's lookups. ``secrets`` creates the
    function behind ``secret()``, None if no secret may be read.
    """

    facts: Facts
    data: Any
    environ: Environ
    host: Mapping[str, Any]
    directory: Directory
    renderers: Renderers
    lenient: bool = False
    target_files: Mapping[str, str] = {}
    registry: "RegistrationLookup | None" = None
    buckets: "KeyValueLookup | None" = None
    loop: Mapping[str, Any] = {}
    inventory: InventoryView = NO_INVENTORY
    asked: Answers = NO_ANSWERS
    secrets: "Callable[[], SecretLookup | None] | None" = None

    def __repr__(self) -> str:
        return "Scope()"  # templates can reach its methods, and its text would reveal everything

    @property
    def groups(self) -> Mapping[str, Any]:
        """``Groups``: the host names of each group."""
        return self.inventory.groups

    @property
    def hosts(self) -> Mapping[str, Any]:
        """``Hosts``: the inventory's record of each host."""
        return self.inventory.hosts

    def names(self, literals: frozenset[str]) -> dict[str, Any]:
        """The variables and functions of an expression with these literal strings."""

        def file(path: str) -> str:
            """``file()`` and ``readFile()``."""
            return self.file(path, literals)

        def template(text: str, **names: Any) -> str:
            """``template()``."""
            return self.renderers.template(self, literals, text, **names)

        def jet(text: str, *signs: Any, **names: Any) -> str:
            """``jet()``."""
            return self.renderers.jet(self, literals, text, *signs, **names)

        def kv_get(bucket: str, key: str, *default: Any) -> Any:
            """``kvGet()``."""
            return self.kv_get(literals, bucket, key, *default)

        def secret(reference: str) -> Any:
            """``secret()``."""
            return self.secret(literals, reference)

        return {
            "Facts": self.facts,
            "Data": self.data,
            "Environ": self.environ,
            "Host": self.host,
            "Groups": self.groups,
            "Hosts": self.hosts,
            "Asked": self.asked,
            "lookup": self.lookup,
            "file": file,
            "readFile": file,
            "template": template,
            "jet": jet,
            "registrations": self.registrations,
            "kvGet": kv_get,
            "secret": secret,
            **self.loop,
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
        meant = suggestion(tree, parts)
        reason = f"no such path, did you mean {root}.{meant}?" if meant else "no such path"
        if root == "environ" and rest.startswith(CCM_VARIABLES):
            reason = f"names that start with {CCM_VARIABLES} are reserved for ccm"
        raise EvaluationError(f"lookup({path!r}): {reason}", kind="template.undefined")

    def registrations(
        self, cluster: str, protocol: str, service: str, address: str
    ) -> list[dict[str, Any]]:
        """The registered endpoints that match; ``*`` matches any text; EvaluationError."""
        from orchestrator.registration.entry import Query

        query = Query(cluster, protocol, service, address)
        if not all(isinstance(part, str) for part in query):
            raise EvaluationError("registrations() takes four patterns, such as '*'")
        if self.registry is None:
            raise EvaluationError("registrations() is not available here")
        try:
            return self.registry(query)
        except CcmError as error:
            kind = "template.registrations"
            raise EvaluationError(f"registrations(): {error}", kind=kind) from error

    def kv_get(
        self, literals: frozenset[str], bucket: str, key: str, default: Any = _NO_DEFAULT
    ) -> Any:
        """The text of a key of a NATS bucket, or the default; EvaluationError.

        The bucket must be literal: a host must not be able to choose what is read.
        """
        from orchestrator.registration.bucket_key import Key
        from orchestrator.sources.address import is_key

        if not (isinstance(bucket, str) and isinstance(key, str) and is_key(bucket, key)):
            named = f"{bucket!r} and {key!r}"
            raise EvaluationError(f"kvGet() takes the names of a bucket and a key, not {named}")
        if bucket not in literals:
            message = f"kvGet(): the bucket {bucket!r} is computed; only a literal one is read"
            raise EvaluationError(message, kind="template.path")
        if self.buckets is None:
            raise EvaluationError("kvGet() cannot be used here")
        try:
            found = self.buckets(Key(bucket, key))
        except EvaluationError:
            raise
        except CcmError as error:
            raise EvaluationError(f"kvGet(): {error}", kind="template.kv") from error
        if found is not None:
            return found
        if default is not _NO_DEFAULT:
            return default
        if self.lenient:
            return ""
        message = f"kvGet(): the bucket {bucket} has no key {key!r}"
        raise EvaluationError(message, kind="template.undefined")

    def secret(self, literals: frozenset[str], reference: str) -> Any:
        """The secret value of a reference, which every sink masks from then on; EvaluationError.

        The reference must be literal: a host must not be able to choose what is read.
        """
        if not isinstance(reference, str) or reference not in literals:
            message = f"secret() takes a literal such as 'FILE#key', not {reference!r}"
            raise EvaluationError(message, kind="template.path")
        return self._secret(
            lambda lookup: lookup(
                reference, str(self.directory.path), self.directory.bounds is not None
            ),
            f"secret({reference!r})",
        )

    def hear_secrets(self, text: str) -> None:
        """Read every secret that a string names, because the string is rendered only after masking
        on the target is set up. Errors are raised where the secret is used.
        """
        from orchestrator.secrets.reference import calls_in

        for reference in {one for one, _ in calls_in(text)}:
            with suppress(EvaluationError):
                self.secret(frozenset((reference,)), reference)

    def encrypted(self, tag: str, text: str) -> Any:
        """The plain text of a value in data, which every sink masks; EvaluationError."""
        return self._secret(lambda lookup: lookup.inline(tag, text), f"the value of !{tag}")

    def _secret(self, read: "Callable[[SecretLookup], Any]", what: str) -> Any:
        if self.secrets is None:
            raise EvaluationError(f"{what} cannot be read here")
        lookup = self.secrets()
        if lookup is None:
            raise NeedSecretsError(what)
        try:
            found = read(lookup)
        except CcmError as error:
            raise EvaluationError(f"{what}: {error}", kind=error.kind) from error
        for text in strings_of(found):
            for one in (text, text.strip()):
                if len(one) >= SHORTEST:
                    self.environ.secrets_read[one] = None
        return found

    def outside(self) -> "Scope":
        """The scope for an expression from another machine: it has the facts and the ``Host`` of
        this evaluation, but nothing from the controller or other hosts.
        """
        return self._replace(
            data={},
            environ=Environ({}),
            directory=_CLOSED,
            registry=None,
            buckets=None,
            target_files={},
            loop={},
            inventory=NO_INVENTORY,
            asked=NO_ANSWERS,
            secrets=None,
        )

    def _refuse_for_query(self, query: str) -> None:
        first = query.split(".", 1)[0].split("|", 1)[0]
        self.facts.refuse(first)
        if not first or any(mark in first for mark in "*?@#{["):
            self.facts.refuse_any()

    def file(self, path: str, literals: frozenset[str]) -> str:
        """The text of a file: a local one or, for an absolute path, one on the target."""
        if not isinstance(path, str) or not path:
            raise EvaluationError(f"file() takes a path, not {path!r}", kind="template.file")
        if not path.startswith("/"):
            return ManifestText(self.directory.read(path, path in literals))
        if path not in self.target_files:
            raise NeedFileError(path)
        return self.target_files[path]


class _ClosedDirectory(Directory):
    """Refuses all files, for expressions from another machine."""

    def locate(self, name: str, literal: bool) -> Path:
        raise EvaluationError("data from another machine cannot read files", kind="template.file")


_CLOSED = _ClosedDirectory(Path("/"))


class ManifestText(str):
    """Text from a local file: it comes from the user, so ``template()`` may render it."""

    __slots__ = ()
