"""Edits of a manifest in the designer: apply the fields of a form to a draft (controller)."""

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from weakref import WeakKeyDictionary

from orchestrator.formatter.canonical import rank_of
from orchestrator.manifest.resource_types import BUILT_IN, Types
from orchestrator.studio.design.drafts import Draft, Drafts, Refused
from orchestrator.studio.design.forms import (
    Change,
    Field,
    change_of,
    data_value,
    fields_of,
    shown_default,
)
from orchestrator.studio.design.hidden_values import HiddenValues, MaskedText, restored, type_of
from orchestrator.studio.design.manifest_problems import Finding, findings, types_for
from orchestrator.studio.design.manifest_text import NEW, ManifestText
from orchestrator.studio.design.project_files import ProjectFiles, StoredFile
from orchestrator.studio.design.section_forms import NAMES, PATHS, WITH_PARTS, Section, section_of
from orchestrator.studio.design.yaml_text import YamlText
from orchestrator.studio.path_guard import problem_text, refusal
from remote_runtime.errors import CcmError, InputError
from remote_runtime.reporting.masking import Mask

Fields = Mapping[str, list[str]]
_HIDDEN = "«secret»"


class Desk:
    """The manifests of a project and the drafts of its designers. ``data_dir`` is the project's
    directory of data files, "" for none; ``private`` are files that are never sent to a browser.
    """

    def __init__(self, root: FilePath, data_dir: str = "", private: Iterable[str] = ()) -> None:
        self.private = frozenset(map(os.path.realpath, private))
        self.files = ProjectFiles(root)
        self.drafts = Drafts()
        self.data_dir = data_dir
        self._hidden: WeakKeyDictionary[Draft, HiddenValues] = WeakKeyDictionary()

    def open(self, user: str, name: str) -> Draft:
        """The draft of a user, which begins with the file. InputError, OSError."""
        found = self.drafts.find(user, name)
        if found is not None:
            return found
        stored = self.files.read(name)
        draft = Draft(stored, stored.text or NEW)
        _ = draft.manifest  # InputError for a file that is not whole: its secrets are not known
        return self.drafts.begin(user, draft)

    def types(self, name: str) -> Types:
        """The types that a manifest may use; only the built-in ones if others cannot be read."""
        try:
            return types_for(self.files.path(name))
        except InputError:
            return BUILT_IN

    def hidden(self, draft: Draft) -> HiddenValues:
        """The secrets of a draft, including those of its earlier steps."""
        manifest = draft.manifest
        found = self._hidden.get(draft)
        if found is None or found.manifest is not manifest:
            found = HiddenValues(manifest, self.types(draft.stored.name), draft.secrets)
            draft.secrets |= found.values
            self._hidden[draft] = found
        return found

    def masked(self, draft: Draft) -> MaskedText:
        """The text for the browser."""
        return self.hidden(draft).masked()

    def findings(self, draft: Draft) -> list[Finding]:
        """The result of ``ccm validate``."""
        return findings(
            draft.manifest,
            self.files.path(draft.stored.name),
            root=self.files.root,
            data_dir=self.data_dir,
            secrets=self.hidden(draft).values,
        )

    def fields(self, draft: Draft, number: int) -> list[Field] | None:
        """The form of a resource; None if its type is unknown."""
        one = draft.manifest.resources[number]
        type_ = type_of(self.types(draft.stored.name), one.type)
        if type_ is None:
            return None
        hidden = self.hidden(draft)
        earlier = draft.manifest.resources[:number]
        names = [other.id for other in earlier if not other.is_defaults]
        defaults = {} if one.is_defaults else draft.manifest.defaults(one)
        return fields_of(
            type_,
            one.properties,
            defaults={
                key: "" if hidden.hides(path) else shown_default(value)
                for key, (path, value) in defaults.items()
            },
            hidden=[key for key in one.properties if hidden.hides((*one.path, key))],
            references=[name for name in names if not hidden.is_in(name) and name != one.id],
        )

    def section(self, draft: Draft, name: str) -> Section:
        """The form of a section of the manifest."""
        return section_of(name, self.hidden(draft), self.types(draft.stored.name))

    def difference(self, draft: Draft) -> list[str]:
        """The lines of a unified diff from the file to the draft, without secrets."""
        types, name = self.types(draft.stored.name), draft.stored.name
        after = HiddenValues(draft.manifest, types, draft.secrets)
        if draft.stored.stamp:
            stored = ManifestText(YamlText(draft.stored.text, name))
            before = HiddenValues(stored, types, after.values)
            texts = [before.masked(), HiddenValues(draft.manifest, types, before.values).masked()]
        else:
            texts = [MaskedText("", ()), after.masked()]
        known = {one.written for one in texts[0].secrets}
        lines = [_without_numbers(one, known) for one in texts]
        return list(difflib.unified_diff(lines[0], lines[1], name, name, lineterm=""))

    def hide(self, draft: Draft, text: str) -> str:
        """Return a string without the secrets of a draft."""
        return Mask(self.hidden(draft).values).text(text)

    def do(self, user: str, name: str, sent: Fields) -> int:
        """Perform the action of a form. Returns the number of the resource to show next, -1 for
        none.

        Refused input is stored in the draft as ``refused``. CcmError, OSError.
        """
        draft = self.open(user, name)
        with draft.lock:
            draft.refused, draft.message = None, ""
            number = _number(sent)
            try:
                draft.require(_one(sent, "revision"))
                action, _, argument = _one(sent, "action").partition(":")
                act = _ACTIONS.get(action)
                if act is None:
                    raise refusal("there is no such action", "reload the page")
                return act(self, draft, sent, argument)
            except (CcmError, OSError, IndexError) as error:
                fields = {key: tuple(values) for key, values in sent.items()}
                text = problem_text(error, self.files.root)
                if isinstance(error, IndexError):
                    text = "this resource no longer exists"
                draft.refused = Refused(self.hide(draft, text), fields)
                draft.revision += 1
                return number

    def save(self, user: str, draft: Draft) -> StoredFile:
        """Write the file. InputError, OSError."""
        stored = self.files.write(draft.stored.name, draft.text, draft.stored.stamp)
        draft.saved(stored)
        return stored


def _one(sent: Fields, key: str) -> str:
    values = sent.get(key)
    return values[0] if values else ""


def _number(sent: Fields) -> int:
    text = _one(sent, "resource")
    return int(text) if _is_number(text) else -1


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 7


def _place(text: str) -> int:
    """The number of a resource. InputError."""
    if not _is_number(text):
        raise refusal("there is no such resource", "reload the page")
    return int(text)


def _without_numbers(masked: MaskedText, known: set[str]) -> list[str]:
    text = masked.text
    for number, secret in enumerate(masked.secrets, 1):
        shown = _HIDDEN if secret.written in known else "«another secret»"
        text = text.replace(f"«secret {number}»", shown, 1)
    return text.splitlines()


def _text(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    text = _one(sent, "yaml").replace("\r\n", "\n")
    if "\r\n" in draft.text:
        if draft.text.count("\n") != draft.text.count("\r\n"):
            raise refusal("the file mixes two kinds of line endings", "run ccm fmt first")
        text = text.replace("\n", "\r\n")
    name = draft.stored.name
    found = restored(text, desk.masked(draft), desk.types(name), name)
    if text == desk.masked(draft).text:
        found = draft.text
    ManifestText(YamlText(found, name))
    draft.take(found)
    return _number(sent)


def _add(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    name = _one(sent, "name").strip()
    type_ = type_of(desk.types(draft.stored.name), argument)
    if not name or type_ is None:
        raise refusal("a resource needs a name and a type", "enter its name, then click a type")
    manifest = draft.manifest.add(type_.name, name, {})
    draft.take(manifest.text)
    return len(manifest.resources) - 1


def _set(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    number = _place(_one(sent, "resource"))
    manifest = draft.manifest
    one = manifest.resources[number]
    type_ = type_of(desk.types(draft.stored.name), one.type)
    fields = desk.fields(draft, number)
    if type_ is None or fields is None:
        raise refusal(f"there is no resource type {one.type!r}", "edit the text")
    rank = rank_of(desk.types(draft.stored.name))(one.type)
    for change in _changes(fields, sent, one.properties, type_.properties):
        if change.removed:
            manifest = manifest.unset(number, change.key)
        else:
            manifest = manifest.set(number, change.key, change.value, rank)
    name = _one(sent, "name").strip()
    if name and name != one.name:
        manifest = manifest.rename(number, name)
    draft.take(manifest.text)
    return number


def _changes(
    fields: list[Field], sent: Fields, properties: Mapping[str, object], types: Mapping[str, object]
) -> list[Change]:
    found = []
    for field in fields:
        if _one(sent, f"remove.{field.key}"):
            found.append(Change(field.key, removed=True))
        elif f"has.{field.key}" in sent and not _is_same(field, sent):
            schema = getattr(types.get(field.key), "schema", {})
            change = change_of(field, properties, sent.get(f"p.{field.key}", []), schema)
            found += [change] if change else []
    return found


def _is_same(field: Field, sent: Fields) -> bool:
    """Whether the value of a field is unchanged, regardless of the current draft."""
    was, now = _one(sent, f"has.{field.key}"), "\n".join(sent.get(f"p.{field.key}", ()))
    return field.kind != "secret" and was.replace("\r\n", "\n") == now.replace("\r\n", "\n")


def _remove(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    draft.take(draft.manifest.remove(_place(argument)).text)
    return -1


def _move(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    text, _, by = argument.partition(":")
    number, before = _place(text), draft.manifest
    one = before.resources[number]
    after = before.move(number, -1 if by == "up" else 1)
    draft.take(after.text)
    same = [at for at, other in enumerate(after.resources) if other.id == one.id]
    return same[0] if same else -1


def _set_data(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    manifest = draft.manifest
    for key in list(manifest.data):
        text = _one(sent, f"d.{key}").replace("\r\n", "\n")
        if _one(sent, f"drop.{key}"):
            manifest = manifest.unset_data(key)
        elif text and text != _one(sent, f"was.{key}").replace("\r\n", "\n"):
            manifest = manifest.set_data(key, data_value(text, key))
    name = _one(sent, "new_key").strip()
    if name:
        manifest = manifest.set_data(name, data_value(_one(sent, "new_value"), name))
    draft.take(manifest.text)
    return -1


def _set_section(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    section, manifest = _section(desk, draft, argument), draft.manifest
    for part in section.parts:
        for path, field, schema in part.fields:
            if _one(sent, f"remove.{field.key}"):
                manifest = manifest.take_out(path)
            elif f"has.{field.key}" in sent and not _is_same(field, sent):
                old = {field.key: draft.manifest.yaml.value(path)} if field.is_set else {}
                change = change_of(field, old, sent.get(f"p.{field.key}", []), schema)
                if change is not None and change.removed:
                    manifest = manifest.take_out(path)
                elif change is not None:
                    manifest = manifest.put(path, change.value)
        name = _one(sent, f"new_key.{part.id}").strip()
        if name and part.takes_keys:
            value = data_value(_one(sent, f"new_value.{part.id}"), name)
            manifest = manifest.put((*part.path, name), value)
    name = _one(sent, "new_part").strip()
    if name and not section.is_open and name not in section.news:
        raise refusal(f"{name[:80]!r} is not in the list", "choose one from the list")
    if name:
        manifest = manifest.put((*PATHS[section.name], name), {})
    draft.take(manifest.text)
    return -1


def _drop_part(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
    name, _, id_ = argument.partition(":")
    part = _section(desk, draft, name).part(id_)
    if part is None or name not in WITH_PARTS:
        raise refusal("this part no longer exists", "reload the page")
    draft.take(draft.manifest.take_out(part.path).text)
    return -1


def _section(desk: Desk, draft: Draft, name: str) -> Section:
    if name not in NAMES[1:]:
        raise refusal("there is no such section", "reload the page")
    return desk.section(draft, name)


def _step(by: int) -> Callable[[Desk, Draft, Fields, str], int]:
    def step(desk: Desk, draft: Draft, sent: Fields, argument: str) -> int:
        """Undo or redo."""
        draft.step(by)
        number = _number(sent)
        return number if number < len(draft.manifest.resources) else -1

    return step


_ACTIONS: dict[str, Callable[[Desk, Draft, Fields, str], int]] = {
    "text": _text,
    "add": _add,
    "set": _set,
    "remove": _remove,
    "move": _move,
    "data": _set_data,
    "section": _set_section,
    "drop": _drop_part,
    "undo": _step(-1),
    "redo": _step(1),
}
