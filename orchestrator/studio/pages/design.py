"""The pages of the designer (controller)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from orchestrator.studio.design.draft_preview import Previews, render
from orchestrator.studio.design.drafts import Draft
from orchestrator.studio.design.form_edits import Desk
from orchestrator.studio.design.forms import Field, shown_of, yaml_of
from orchestrator.studio.design.git_commit import has_repository
from orchestrator.studio.design.hidden_values import HiddenValues, type_of
from orchestrator.studio.design.manifest_problems import Finding, is_at
from orchestrator.studio.design.manifest_text import ManifestText
from orchestrator.studio.design.section_forms import NAMES, PATHS, Section
from orchestrator.studio.pages.hosts import FleetHosts
from orchestrator.studio.pages.page import MissingPageError, Page, Parameters
from orchestrator.studio.path_guard import problem_text
from remote_runtime.errors import CcmError, InputError

_MAX_HOSTS = 2_000


class Designer(NamedTuple):
    """The data of the designer; ``desk`` is None without a project."""

    desk: Desk | None
    hosts: FleetHosts
    previews: Previews

    def require_desk(self) -> Desk:
        """The desk. MissingPageError."""
        if self.desk is None:
            raise MissingPageError("The designer requires a project.")
        return self.desk


def address_of(name: str, number: int = -1, section: str = "") -> str:
    """The address of the page of a manifest: for a resource, or else for a section."""
    query = {"file": name}
    if number >= 0:
        query["resource"] = str(number)
    elif section in NAMES[1:]:
        query["section"] = section
    return f"/design/edit?{urlencode(query)}"


def files_page(designer: Designer, user: str, problem: str = "") -> Page:
    """The manifests of the project."""
    desk = designer.desk
    values = {
        "root": str(desk.files.root) if desk else "",
        "names": desk.files.names() if desk else [],
        "changed": desk.drafts.names(user) if desk else [],
        "problem": problem,
    }
    return Page("design_files.html", "Design", values, status=422 if problem else 200)


def _draft_page(
    designer: Designer, user: str, parameters: Parameters, make: Callable[[Desk, Draft], Page]
) -> Page:
    """The page that ``make`` returns for a draft; the list of files for an unusable file."""
    desk = designer.require_desk()
    try:
        draft = desk.open(user, parameters.text("file"))
    except (InputError, OSError) as error:
        return files_page(designer, user, problem_text(error, desk.files.root, "read"))
    return make(desk, draft)


def edit_page(designer: Designer, user: str, parameters: Parameters) -> Page:
    """The form of a resource, or of the data, next to the text."""

    def make(desk: Desk, draft: Draft) -> Page:
        """The page for one state of the draft."""
        with draft.lock:
            number, section = (
                _number(parameters.text("resource")),
                parameters.choice("section", NAMES),
            )
            return _edit_page(desk, draft, number, section)

    return _draft_page(designer, user, parameters, make)


def _edit_page(desk: Desk, draft: Draft, number: int, section: str) -> Page:
    manifest, name = draft.manifest, draft.stored.name
    resources = manifest.resources
    number = number if number < len(resources) else -1
    found = desk.findings(draft)
    masked, hidden = desk.masked(draft), desk.hidden(draft)
    fields = desk.fields(draft, number) if number >= 0 else None
    refused = draft.refused
    sent = refused.fields if refused else {}
    at = [one for one in found if one.resource == number and number >= 0]
    keys = {one.key for one in at}
    of_field = {field.key for field in fields or ()}
    shown = [one for one in fields or () if _is_shown(one, keys)]
    types = desk.types(name)
    form = desk.section(draft, section) if number < 0 and section != "data" else None
    at_section = _findings_at(manifest, form, found) if form else {}
    values = {
        **_values_of(draft),
        "number": number,
        "refused": refused.message if refused else "",
        "problems": [one for one in found if not one.is_warning],
        "warnings": [one for one in found if one.is_warning],
        "troubled": {one.resource for one in found if not one.is_warning},
        "resources": [desk.hide(draft, one.id) for one in resources],
        "types": [(one, _about(desk, name, one)) for one in types.names()],
        "resource": desk.hide(draft, resources[number].id) if number >= 0 else "",
        "name": ""
        if number < 0 or hidden.is_in(resources[number].name)
        else resources[number].name,
        "fields": fields,
        "shown_fields": shown,
        "more_fields": [one for one in fields or () if one not in shown],
        "whole": [one for one in at if one.key not in of_field],
        "at_field": lambda key: [one for one in at if one.key == key] + at_section.get(key, []),
        "section": form.name if form else "data" if number < 0 else "",
        "sections": NAMES,
        "form": form,
        "is_shown": lambda field: field.is_set or field.key in at_section,
        "section_at": lambda one: _section_at(manifest, one),
        "shown_of": shown_of,
        "was_sent": lambda key: key in sent,
        "kept": lambda key: (sent.get(key) or ("",))[0],
        "kept_is_add": (sent.get("action") or ("",))[0].startswith("add:"),
        "data": list(_data_rows(manifest, hidden)),
        "yaml": (sent.get("yaml") or (masked.text,))[0],
        "secrets": masked.secrets,
    }
    return Page("design.html", name, values, status=422 if refused else 200)


def _values_of(draft: Draft) -> dict[str, Any]:
    name = draft.stored.name
    return {
        "file": name,
        "file_query": urlencode({"file": name}),
        "address": address_of(name),
        "revision": draft.revision,
        "message": draft.message,
        "can_undo": draft.can_undo,
        "can_redo": draft.can_redo,
        "is_changed": draft.is_changed,
    }


def _data_rows(manifest: ManifestText, hidden: HiddenValues) -> Iterator[tuple[str, str, bool]]:
    """Each key of the data with its value as YAML, and whether the value is hidden."""
    for key, value in manifest.data.items():
        is_hidden = hidden.hides(("data", key))
        yield key, "" if is_hidden else yaml_of(value), is_hidden


def _findings_at(
    manifest: ManifestText, form: Section, found: list[Finding]
) -> dict[str, list[Finding]]:
    """The findings for the fields of a section, by their keys."""
    at: dict[str, list[Finding]] = {}
    for path, field, _ in (each for part in form.parts for each in part.fields):
        own = [one for one in found if one.resource < 0 and is_at(manifest, path, one.at)]
        if own:
            at[field.key] = own
    return at


def _section_at(manifest: ManifestText, one: Finding) -> str:
    """The section that a finding concerns."""
    found = (name for name, path in PATHS.items() if is_at(manifest, path, one.at))
    return next(found, "options")


def _is_shown(field: Field, troubled: set[str]) -> bool:
    """Whether a field is shown at the top: it is set, required, often used or has a problem."""
    often = ("ensure", "content", "source", "require", "subscribe")
    return field.is_set or field.required or field.key in troubled or field.key in often


def _about(desk: Desk, name: str, type_name: str) -> str:
    type_ = type_of(desk.types(name), type_name)
    return str(type_.schema.get("x-ccm-title", "")) if type_ else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else -1


def diff_page(designer: Designer, user: str, parameters: Parameters) -> Page:
    """The changes that saving would make."""
    return _draft_page(designer, user, parameters, _diff_page)


def _diff_page(desk: Desk, draft: Draft) -> Page:
    name = draft.stored.name
    with draft.lock:
        values = {
            "file": name,
            "address": address_of(name),
            "revision": draft.revision,
            "refused": draft.refused.message if draft.refused else "",
            "problems": sum(not one.is_warning for one in desk.findings(draft)),
            "lines": desk.difference(draft) if draft.is_changed else [],
            "has_git": has_repository(desk.files.root),
        }
    return Page("design_diff.html", f"Save {name}", values)


def try_page(designer: Designer, user: str, parameters: Parameters, may_preview: bool) -> Page:
    """The manifest as rendered for a host, and the form for a preview."""

    def make(desk: Desk, draft: Draft) -> Page:
        """The page, without waiting for an edit."""
        values = _try_values(designer, desk, draft, parameters.text("host"))
        values |= {
            "may_preview": may_preview,
            "preview": designer.previews.of(user, draft.stored.name),
        }
        status = 422 if values["problem"] else 200
        return Page("design_try.html", f"Try {draft.stored.name}", values, status=status)

    return _draft_page(designer, user, parameters, make)


def _try_values(designer: Designer, desk: Desk, draft: Draft, host: str) -> dict[str, Any]:
    name, inventory = draft.stored.name, designer.hosts.inventory
    problem, rendering = designer.hosts.problem, None
    if draft.refused:
        problem = draft.refused.message
    if host and inventory is not None:
        try:
            rendering = render(desk, draft, designer.hosts, host)
        except (CcmError, OSError) as error:
            problem = desk.hide(draft, problem_text(error, desk.files.root, "read"))
    return {
        "file": name,
        "address": address_of(name),
        "revision": draft.revision,
        "hosts": list(inventory.hosts)[:_MAX_HOSTS] if inventory is not None else [],
        "host": host,
        "problem": problem,
        "rendered": rendering.text if rendering else None,
        "facts": rendering.facts if rendering else "",
        "warnings": rendering.warnings if rendering else [],
    }
