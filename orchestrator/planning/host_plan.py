"""The plan of one host (controller)."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.expressions import EvaluationError, NeedFileError, Scope
from orchestrator.fleet.checks.unchanged_resources import PlannedFields
from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.compiled_resource import CompiledResource, CompleteResource
from orchestrator.planning.content.blob_references import BlobReferences
from orchestrator.planning.content.blobs import Blob
from orchestrator.planning.implied_members import Implications, Masking, manifests, masked_texts
from orchestrator.planning.rendered_check import check_final
from orchestrator.planning.rendering import render_deferred
from orchestrator.support.hashing import sha256
from remote_runtime.errors import Position, ResourceError
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import MASKED, Mask

if TYPE_CHECKING:
    from orchestrator.fleet.interfaces import FileReceiver

MAX_FILE = 1 << 20
MAX_FILES = 64


class EarlierPlan(NamedTuple):
    """A plan of a stage that is previewed before another one, and the identity that the host
    stores."""

    plan: "HostPlan"
    manifest: str
    stage: str = ""


class HostPlan:
    """The plan of one host. Hosts share equal resources instead of copying them.

    ``resources`` has those of the manifest itself, each with its children, ``everything`` has all
    of them in pre-order, and ``declared`` their declarations. ``own_secrets`` are strings to mask
    in every sink; rendering on demand adds the environment secrets that it reads. ``warnings`` are
    sentences for the user. ``fail_on_error``: the first failure ends the run. ``earlier`` has the
    results of the session's earlier commands on the host. ``binding`` binds the run to a plan file.
    ``incoming`` receives files that are requested from the host. ``compare`` describes differences
    from the plan file, and ``keep`` returns the record for a plan file that is being written.
    ``before``, in a preview, are the plans of earlier stages: the target numbers their resources
    after those of this one. ``secrets_before``, in a push, are the masked strings of earlier
    stages. ``implications`` are those of the run.
    """

    def __init__(
        self,
        resources: Sequence[CompiledResource],
        everything: Sequence[CompiledResource],
        *,
        declared: Sequence[DeclaredResource],
        secrets: Collection[str],
        warnings: Sequence[str],
        fail_on_error: bool,
    ) -> None:
        self.resources = resources
        self._everything = everything
        self.declared = declared
        self.own_secrets = tuple(secrets)
        self._secrets_read = secrets
        self.warnings = list(warnings)
        self.fail_on_error = fail_on_error
        self.earlier: dict[str, Any] = {}
        self.binding: Mapping[str, Any] = {}
        self.incoming: FileReceiver | None = None
        self.compare: Callable[[Mapping[str, Any]], str] | None = None
        self.keep: Callable[[], Mapping[str, Any] | None] | None = None
        self.before: Sequence[EarlierPlan] = ()
        self.secrets_before: Sequence[str] = ()
        self.implications = Implications()
        self._deferred: dict[int, tuple[DeclaredResource, Scope, BlobReferences]] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Strings to mask in every sink, including those of earlier plans."""
        if not (self.before or self.secrets_before):
            return self.own_secrets
        before = (text for one in self.before for text in one.plan.secrets)
        return tuple(dict.fromkeys((*self.own_secrets, *self.secrets_before, *before)))

    @property
    def items(self) -> list[Item]:
        """Every resource in pre-order: ``items[i].index == i``."""
        return [entry.item._replace(index=index) for index, entry in enumerate(self._everything)]

    def identities(self) -> Iterator[str]:
        """The ``type#name`` of every resource, pre-order, by index."""
        return (resource.outline.identity for resource in self._everything)

    def subscriptions(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each subscriber, with the ``type#name`` of its subscriptions."""
        return self._references(lambda item: item.subscribe)

    def requirements(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each resource that requires others, with the ``type#name`` of these."""
        return self._references(lambda item: item.require)

    def members(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each ``apply`` with the ``type#name`` of the resources that it applies."""
        for resource in self._everything:
            if resource.children:
                names = tuple(child.outline.identity for child in resource.children)
                yield resource.outline.identity, names

    def _references(
        self, of: Callable[[Item], Sequence[str]]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        items = [resource.outline.item for resource in self._everything]
        names = {f"{item.type}#{item.alias}": item.id for item in items if item.alias}
        for item in items:
            if sources := of(item):
                yield item.id, tuple(names.get(source, source) for source in sources)

    def place(self, identity: str) -> str:
        """The position of a resource in its manifest; the first one if two are equal."""
        return str(self._places[identity])

    @cached_property
    def _places(self) -> dict[str, Position]:
        places: dict[str, Position] = {}
        for identity, declared in zip(self.identities(), self.declared, strict=True):
            places.setdefault(identity, declared.position)
        return places

    def registrations(self, identity: str) -> Sequence[Mapping[str, Any]]:
        """The registrations to announce once the resource with that ``type#name`` is stable, for
        all hosts.
        """
        return self._registrations.get(identity, ())

    @cached_property
    def _registrations(self) -> dict[str, list[Mapping[str, Any]]]:
        registrations: dict[str, list[Mapping[str, Any]]] = {}
        for entry in self._everything:
            for one in entry.registrations:
                public = _public(one, entry.outline.item.sensitive, Mask(self.secrets))
                registrations.setdefault(entry.outline.identity, []).append(public)
        return registrations

    def implied(self, index: int) -> PlannedFields | None:
        """The members of the event of a converged resource that follow from the plan, masked; None
        if the plan does not contain all of them.
        """
        return self._masking.of(self._everything[index], self._manifests[index])

    @cached_property
    def _masking(self) -> Masking:
        plans = (self, *(one.plan for one in self.before))
        own = (text for one in plans for text in masked_texts(one.resources))
        return self.implications.masking(tuple(dict.fromkeys((*self.secrets, *own))))

    @cached_property
    def _manifests(self) -> list[str]:
        return list(manifests(self.resources))

    def references(self) -> int:
        """The number of blob references in the plan and in earlier ones; a directory of templates
        has one for each file.
        """
        own = sum(resource.blob_count for resource in self._everything)
        return own + sum(one.plan.references() for one in self.before)

    @property
    def total(self) -> int:
        """The number of resources that the target reports, including those of earlier plans."""
        return len(self._everything) + sum(one.plan.total for one in self.before)

    def of(self, items: Sequence[Item]) -> "HostPlan":
        """A plan with only these resources, in this order; they need no blobs and no rendering on
        demand.
        """
        some = [CompleteResource.alone(item) for item in items]
        return HostPlan(
            some, some, declared=(), secrets=self.own_secrets, warnings=(), fail_on_error=False
        )

    @property
    def rounds(self) -> int:
        """The number of passes of the target over the resources: two if it first checks them
        against a plan file.
        """
        return 2 if "serial" in self.binding else 1

    @property
    def previews(self) -> bool:
        """Whether a push only previews some of it: a noop child, or everything that is first
        checked against a plan file.
        """
        return self.rounds > 1 or any(entry.outline.item.noop for entry in self._everything)

    @property
    def observes(self) -> bool:
        """Whether each event must report the observed state, for writing a plan file."""
        return bool(self.binding) and "serial" not in self.binding

    def misprediction(self, event: Mapping[str, Any]) -> str | None:
        """The plan file's prediction for a resource with a different result; "" if it was right,
        None without a plan file.
        """
        return self.compare(event) if self.compare else None

    def kept(self) -> Mapping[str, Any] | None:
        """The new part of the host's record for a plan file that is being written; None if there is
        none.
        """
        return self.keep() if self.keep else None

    def desired(self) -> Iterator[tuple[Item, bytes]]:
        """Every resource, pre-order, with the bytes of its desired state and declaration."""
        for index, (entry, declared) in enumerate(
            zip(self._everything, self.declared, strict=True)
        ):
            late = repr(declared.raw).encode("utf-8", "surrogatepass")
            yield entry.item, entry.json + (late if index in self._deferred else b"")

    def longest(self) -> float:
        """The maximum number of seconds that one of its resources may run, according to its own
        timeouts.
        """
        own = max((entry.longest for entry in self._everything), default=0.0)
        return max(own, *(one.plan.longest() for one in self.before)) if self.before else own

    def payload(self, envelope: Mapping[str, Any]) -> bytes:
        """The JSON text of the ``plan`` frame; ``envelope`` has the members from the command."""
        head = {"t": "plan", "fail_on_error": self.fail_on_error, **envelope}
        if self.earlier:
            head.setdefault("earlier", self.earlier)
        if self.binding:
            head["binding"] = self.binding
        secrets = [*head.get("secrets", ()), *self.own_secrets, *self.secrets_before]
        head["secrets"] = list(dict.fromkeys(secrets))
        text = self._text(head)
        if not self.before:
            return text
        before = b",".join([one.plan._entry(one) for one in self.before])
        return b"".join((text[:-1], b',"before":[', before, b"]}"))

    def _entry(self, earlier: EarlierPlan) -> bytes:
        """The entry of this plan in the payload of a later one."""
        head: dict[str, Any] = {"fail_on_error": self.fail_on_error, "secrets": self.own_secrets}
        for key in ("manifest", "stage"):
            if getattr(earlier, key):
                head[key] = getattr(earlier, key)
        return self._text(head)

    def _text(self, head: dict[str, Any]) -> bytes:
        """The JSON text of an object with these members and the resources."""
        entries = b",".join([resource.text for resource in self.resources])
        if head.get("manifest"):
            head["digest"] = sha256(entries).hexdigest()
        text = json.dumps(head, separators=(",", ":")).encode("ascii")
        return b"".join((text[:-1], b',"resources":[', entries, b"]}"))

    def blob(self, sha: str) -> Blob:
        """The bytes with this hash; KeyError if neither this plan nor an earlier one names them."""
        for plan in (self, *(one.plan for one in self.before)):
            if sha in plan._blobs:
                return plan._blobs[sha]
        raise KeyError(sha)

    @cached_property
    def _blobs(self) -> dict[str, Blob]:
        return {blob.sha: blob for entry in self._everything for blob in entry.blobs}

    def defer(
        self, index: int, declared: DeclaredResource, scope: Scope, blob_references: BlobReferences
    ) -> None:
        """Store the inputs to render the resource at ``index`` on demand."""
        self._deferred[index] = (declared, scope, blob_references)

    def render(self, index: int, read: Callable[[str], bytes]) -> dict[str, Any]:
        """Render the deferred properties of a resource when it runs.

        ``read`` returns the bytes of a file of the target. ResourceError, which fails that
        resource.
        """
        first = len(self._everything)
        for one in self.before:
            if first <= index < first + one.plan.total:
                return one.plan.render(index - first, read)
            first += one.plan.total
        if index not in self._deferred:
            raise ResourceError(f"resource {index} has nothing to render", kind="template")
        declared, scope, travel = self._deferred[index]
        files: dict[str, str] = {}
        deferred_scope = scope._replace(target_files=files)
        ensure = self._everything[index].outline.ensure
        for _ in range(MAX_FILES + 1):
            try:
                return self._finish(
                    index, declared, travel, render_deferred(declared, deferred_scope, ensure)
                )
            except NeedFileError as error:
                files[error.path] = _text_of(error.path, read(error.path))
            except EvaluationError as error:
                raise ResourceError(str(error), kind=error.kind) from error
        message = f"file() reads more than {MAX_FILES} files on the target"
        raise ResourceError(message, kind="template.file")

    def _finish(
        self,
        index: int,
        declared: DeclaredResource,
        blob_references: BlobReferences,
        values: dict[str, Any],
    ) -> dict[str, Any]:
        item = self._everything[index].item
        whole = {**item.properties, **values}
        if len(self._secrets_read) > len(self.own_secrets):
            raise ResourceError(
                "it reads a secret that the host cannot mask",
                hint="write the name of the variable or secret as a literal in the resource",
                kind="template",
            )
        problems = check_final(declared, item.name, whole, frozenset())
        if problems:
            raise ResourceError(str(problems[0][1]), kind="template")
        plain = {key: value for key, value in values.items() if key != "source"}
        by_path = {key: value for key, value in values.items() if key == "source"}
        for blob in blob_references.replace(declared, by_path):
            self._blobs[blob.sha] = blob  # the target may request it
        return {**plain, **by_path}


def _public(registration: Mapping[str, Any], sensitive: bool, mask: Mask) -> Mapping[str, Any]:
    """A registration with masked annotations; its other members contain only the address."""
    texts = registration.get("annotations") or {}
    values = dict.fromkeys(texts, MASKED) if sensitive else mask.value(texts)
    return {**registration, "annotations": values} if texts else registration


def _text_of(path: str, data: bytes) -> str:
    if len(data) > MAX_FILE:
        message = f"file({path!r}) is larger than {MAX_FILE >> 20} MiB"
        raise ResourceError(message, kind="template.file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResourceError(f"file({path!r}) is not UTF-8 text", kind="template.file") from error
