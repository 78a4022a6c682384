"""Resources with the same name, which a manifest may contain only once (controller)."""

import re
from dataclasses import replace

from orchestrator.ansible.conversion.edit_groups import merge_edits
from orchestrator.ansible.conversion.manifest_context import Conversion
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules.commands import single_quoted
from orchestrator.ansible.modules.host_settings import CRON_MARK, renamed
from orchestrator.ansible.modules.services import RELOAD
from orchestrator.ansible.output.manifest_entries import (
    CHECK,
    KEPT,
    READS_ELEMENT,
    Comment,
    Entry,
    any_of,
    chosen,
)
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.tasks import listed

_STARTS = re.compile(r"systemctl (?!daemon-reload|enable|disable|is-)[a-z-]*(start|reload)")

_DATA = re.compile(r"\{\{ Data\.(\w+) \}\}")


def resolve_duplicates(builder: Conversion) -> None:
    """Merge resources with the same name, make them exclusive, or comment out the later ones."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in builder.manifest.entries():
        if entry.implied or entry.type not in ("exec", "wait", "reboot"):
            groups.setdefault((entry.type, _known_name(builder, entry)), []).append(entry)
    for entries in groups.values():
        entries = _without_parts(builder, entries)
        if len(entries) < 2:
            continue
        if _have_own_files(entries):
            _name_by_job(builder, entries)
        elif entries[0].type == "edit":
            try:
                check_notified(builder, entries)
                merge_edits(builder, entries)
            except NotConvertible as error:
                for one in entries[1:]:
                    _keep(builder, one, error.reason)
        elif not READS_ELEMENT.search(entries[0].name) and not any(one.foreach for one in entries):
            _merge(builder, entries)
    _drop_reloads(builder)


def _known_name(builder: Conversion, entry: Entry) -> str:
    """The name of a resource; the path of an edit with the values of variables that have one."""

    def known(match: re.Match[str]) -> str:
        values = {str(one) for one in builder.scope.values.get(match[1], [])}
        value = values.pop() if len(values) == 1 else ""
        return match[0] if not value or is_template(value) else value

    return entry.name if entry.type != "edit" else _DATA.sub(known, entry.name)


def _drop_reloads(builder: Conversion) -> None:
    """Remove reloads of systemd before a ``service``, which reloads changed units itself.

    A command that starts a service does not, so the reloads before such a command are kept.
    """
    entries = builder.manifest.entries()
    commands = [str(one.properties.get("command")) for one in entries if one.type == "exec"]
    if any(_STARTS.search(one) for one in commands):
        return
    places = {one.reference: at for at, one in enumerate(entries)}
    last = max((at for at, one in enumerate(entries) if one.type == "service"), default=-1)
    for at, entry in enumerate(entries):
        if entry.type != "exec" or entry.properties.get("command") != RELOAD:
            continue
        changed = [places.get(one, at) for one in entry.subscribe] or [at]
        if max(changed) < last and not any(entry.reference in one.subscribe for one in entries):
            text = "not needed: a service reads the changed files of its unit"
            builder.manifest.replace(entry, [Comment([*entry.comments, text])])


def _without_parts(builder: Conversion, entries: list[Entry]) -> list[Entry]:
    """Merge parts into the resource that they belong to, or leave them as comments."""
    parts = [one for one in entries if one.partial]
    whole = [one for one in entries if not one.partial]
    for part in parts:
        target = next((one for one in whole if one.conditions == part.conditions), None)
        if target is None or target.properties.get("ensure") == "absent":
            if part.type == "cron":
                _keep(builder, part, f"no job of /etc/cron.d/{part.name} uses the setting")
            else:
                _answer(builder, part)
            continue
        if part.type == "cron":
            _add_setting(builder, target, part)
        else:
            for name, value in part.properties.items():
                target.properties.setdefault(name, {}).update(value)
        target.comments = [*part.comments, *target.comments]
        builder.manifest.replace(part, [])
    return whole


def _add_setting(builder: Conversion, job: Entry, part: Entry) -> None:
    """A setting in the file of a job. ccm writes it below the comment, Ansible above it."""
    job.properties.setdefault("environment", []).extend(part.properties["environment"])
    if job.properties.pop("comment", None) is not None:
        builder.check(job, "the lines of the file are in a different order than in the original")


def _have_own_files(entries: list[Entry]) -> bool:
    """Whether jobs in one cron.d file can have separate files because they share no settings."""
    jobs = [_job_of(one) for one in entries]
    return (
        any(jobs)
        and entries[0].name not in jobs
        and not any("environment" in one.properties for one in entries)
        and not all(_same(entries[0], one) for one in entries)
    )


def _job_of(entry: Entry) -> str:
    """The name of the job in a cron.d file; "" for anything else, such as a file that
    is removed.
    """
    is_cron = entry.type == "cron"
    return entry.properties.get("comment", "").removeprefix(CRON_MARK) if is_cron else ""


def _name_by_job(builder: Conversion, entries: list[Entry]) -> None:
    """Give each job in a cron.d file its own file with the name of the job, as ccm does."""
    file = entries[0].name
    for one in entries:
        job = _job_of(one)
        if job:
            one.name = job
            del one.properties["comment"]
            builder.check(one, renamed(job, file))
    removals = [one for one in entries if one.name == file]
    if len(removals) > 1:
        _merge(builder, removals)


def _answer(builder: Conversion, part: Entry) -> None:
    """An answer to a question of a package that no resource installs, set with debconf."""
    answers = part.properties.get("debconf", {})
    lines, tests = [], []
    for question, one in answers.items():
        words = f"{part.name} {question} {one['type']} {one['value']}"
        lines.append(f'echo "{words}" | debconf-set-selections')
        tests.append(f'debconf-show "{part.name}" | grep -qF -- "{question}: {one["value"]}"')
    text = "debconf-set-selections does this; no resource of the package can set the answer"
    title = builder.unique(f"answer of {part.name} to {' '.join(answers)}")
    entry = Entry(
        "exec", title,
        {"command": " && ".join(lines), "provider": "shell",
         "unless": f"sh -c {single_quoted(' && '.join(tests))}"},
        comments=part.comments, checks=[*part.checks, text], conditions=part.conditions,
        control=part.control, foreach=part.foreach, tags=part.tags, record=part.record,
        sensitive=part.sensitive,
    )  # fmt: skip
    if part.record is not None:
        builder.mark(part.record, CHECK, text)
    _replace_references(builder, part, entry)
    builder.manifest.replace(part, [entry])


def notified(builder: Conversion, entry: Entry) -> list[str]:
    """The handlers that the task of a resource notifies."""
    task = builder.task_of(entry)
    return sorted(str(one) for one in listed(task.keywords.get("notify"))) if task else []


def _merge(builder: Conversion, entries: list[Entry]) -> None:
    if entries[0].type == "service":
        entries = _without_stops(builder, entries)
    elif entries[0].type == "file":
        entries = _without_removals(builder, entries)
    _widen(entries)
    kept = [entries[0]]
    own: dict[int, list[str]] = {}  # the conditions of the tasks that are kept separate
    for entry in entries[1:]:
        earlier = [one for one in kept if _same(one, entry)]
        if entry.implied and earlier:
            _join(builder, earlier[0], entry)
            continue
        before = [own.get(id(one), one.conditions) for one in earlier]
        if _stands_apart(builder, earlier, entry, before):
            own[id(entry)] = entry.conditions
            entry.conditions = [*entry.conditions, f"not ({any_of(before)})"]
            kept.append(entry)
        elif earlier:
            _join(builder, earlier[0], entry)
        elif entry.type == "service" and _serves(kept[0], entry):
            _join_service(builder, kept[0], entry)
        else:
            kept.append(entry)
    kept = _without_twins(builder, kept)
    if len(kept) < 2:
        return
    if all(one.conditions and not one.foreach for one in kept) and _are_literal(kept):
        check_notified(builder, kept)
        _make_exclusive(builder, kept)
        return
    for one in kept[1:]:
        _keep(builder, one, f"{one.type}#{one.name} is already managed above, in another way")


def _without_twins(builder: Conversion, entries: list[Entry]) -> list[Entry]:
    """Two resources under one condition cannot both exist: merge the types of sources,
    or keep them.
    """
    left: list[Entry] = []
    for entry in entries:
        twin = next((one for one in left if one.conditions == entry.conditions), None)
        if twin is None or not entry.conditions:
            left.append(entry)
        elif entry.type == "repository" and _without_types(entry) == _without_types(twin):
            types = [
                *twin.properties.get("types", ["deb"]),
                *entry.properties.get("types", ["deb"]),
            ]
            twin.properties["types"] = list(dict.fromkeys(types))
            _join(builder, twin, entry)
        else:
            _keep(builder, entry, f"{entry.type}#{entry.name} is already managed above")
    return left


def _without_types(entry: Entry) -> dict[str, object]:
    return {key: one for key, one in entry.properties.items() if key != "types"}


def _without_stops(builder: Conversion, entries: list[Entry]) -> list[Entry]:
    """Stop a service with a command if a later task starts it; return the other resources."""
    if entries[-1].properties.get("ensure", "running") == "stopped":
        return entries
    left = [entries[-1]]
    for one in reversed(entries[:-1]):
        if one.properties != {"ensure": "stopped"} or one.foreach or one.subscribe:
            left.insert(0, one)
            continue
        stop = replace(
            one,
            type="exec",
            name=builder.unique(f"stop {one.name}"),
            properties={
                "command": f"systemctl stop {one.name}",
                "onlyif": f"systemctl is-active --quiet {one.name}",
            },
        )
        if one.alias:
            _replace_references(builder, one, stop)
        builder.manifest.replace(one, [stop])
        builder.check(stop, "a command stops the service, which a later task starts")
    return left


def _without_removals(builder: Conversion, entries: list[Entry]) -> list[Entry]:
    """Remove a file by a command if another task makes it; return the others."""
    removals = [one for one in entries if one.properties.get("ensure") == "absent"]
    if len(removals) == len(entries) or all(one.conditions for one in entries):
        return entries
    awaited = {ref for one in builder.manifest.entries() for ref in one.subscribe}
    left = []
    for one in entries:
        if one not in removals or one.foreach or one.subscribe or one.reference in awaited:
            left.append(one)
            continue
        test = f'test -e "{one.name}" || test -L "{one.name}"'
        removal = replace(
            one,
            type="exec",
            name=builder.unique(f"remove {one.name}"),
            properties={
                "command": f'rm -rf "{one.name}"',
                "onlyif": f"sh -c {single_quoted(test)}",
            },
            comments=[*one.comments, "a command removes what another task creates"],
        )
        builder.manifest.replace(one, [removal])
    return left


def _widen(entries: list[Entry]) -> None:
    """Drop the conditions of a resource that another task sets up in the same way."""
    plain = [one for one in entries if not (one.foreach or one.subscribe)]
    same = [repr(sorted(one.properties.items())) for one in plain]
    always = {
        key for one, key in zip(plain, same, strict=True) if not (one.conditions or one.control)
    }
    for one, key in zip(plain, same, strict=True):
        if key in always:
            one.conditions, one.control = [], {}


def _stands_apart(
    builder: Conversion, earlier: list[Entry], entry: Entry, before: list[list[str]]
) -> bool:
    """Whether a resource must keep its place, because of a different condition or of earlier
    resources.

    ``before`` has the conditions of the tasks of the earlier resources.
    """
    if not earlier or not all([entry.conditions, *before]) or entry.conditions in before:
        return False
    if entry.foreach or entry.control or not _are_literal([*earlier, entry]):
        return False
    first, last = builder.manifest.place(earlier[0]), builder.manifest.place(entry)
    between = builder.manifest.items[first:last]
    return any(isinstance(one, Entry) and one.type != entry.type for one in between)


def _same(one: Entry, other: Entry) -> bool:
    return (
        one.properties == other.properties
        and one.control == other.control
        and one.foreach == other.foreach
        and not one.subscribe
        and not other.subscribe
    )


def _join(builder: Conversion, one: Entry, other: Entry) -> None:
    """Merge resources with the same properties into one that exists if either condition is true."""
    if one.conditions and other.conditions:
        one.conditions = [any_of([one.conditions, other.conditions])]
    else:
        one.conditions = []
    one.tags = list(dict.fromkeys([*one.tags, *other.tags])) if one.tags and other.tags else []
    one.checks += [text for text in other.checks if text not in one.checks]
    check_notified(builder, [one, other])
    _replace_references(builder, other, one)
    comments = [*other.comments, f"merged into {one.type}#{one.name} above"]
    builder.manifest.replace(other, [Comment(comments)])


def check_notified(builder: Conversion, entries: list[Entry]) -> None:
    """Mark where only some of the tasks that became one resource notify a handler, or have a result
    that another task waits for.
    """
    text = ""
    if len({repr(notified(builder, one)) for one in entries}) > 1:
        text = "only some of these tasks notify a handler; here each change does"
    elif len({_is_awaited(builder, one) for one in entries}) > 1:
        text = (
            "the original reacts to changes by some of these tasks; ccm reacts to changes "
            "by all of them"
        )
    if not text:
        return
    builder.check_all(entries, text)


def _is_awaited(builder: Conversion, entry: Entry) -> bool:
    """Whether a resource subscribes to one whose task has a registered result."""
    task = builder.task_of(entry)
    if task is None or task.keywords.get("register") is None:
        return False
    return any(entry.reference in one.subscribe for one in builder.manifest.entries())


def _serves(one: Entry, other: Entry) -> bool:
    """Whether two tasks for one service can be one resource: started, then enabled."""
    shared = set(one.properties) & set(other.properties)
    agree = all(one.properties[name] == other.properties[name] for name in shared)
    return agree and one.conditions == other.conditions and one.control == other.control


def _join_service(builder: Conversion, one: Entry, other: Entry) -> None:
    other.properties = {**one.properties, **other.properties}
    other.comments = [*one.comments, *other.comments]
    other.checks = [*one.checks, *other.checks]
    one.properties.update(other.properties)
    one.subscribe += other.subscribe
    if other.subscribe:
        # The resources that it subscribes to may be between the two.
        one.subscribe = []
        builder.manifest.replace(one, [])
        return
    _replace_references(builder, other, one)
    builder.manifest.replace(other, [])


def _replace_references(builder: Conversion, old: Entry, new: Entry) -> None:
    if old.is_literal and old.reference == new.reference:
        return
    for entry in builder.manifest.entries():
        entry.subscribe = [
            builder.reference(new) if one == old.reference else one for one in entry.subscribe
        ]


def _are_literal(entries: list[Entry]) -> bool:
    return all("item" not in repr(one.properties) for one in entries)


def _make_exclusive(builder: Conversion, entries: list[Entry]) -> None:
    """Let each resource exist only where its condition is true; what subscribed to their common
    name subscribes to those before it."""
    old = entries[0].reference
    earlier: list[str] = []
    for entry in builder.manifest.entries():
        if old in entry.subscribe:
            entry.subscribe = [
                ref for one in entry.subscribe for ref in (earlier if one == old else [one])
            ]
        if any(entry is one for one in entries):
            earlier.append(_exclusive(builder, entry))


def _exclusive(builder: Conversion, entry: Entry) -> str:
    """Make a resource exist only if its condition is true: a list with one name, or with none."""
    entry.foreach = chosen(text_expression(entry.name), entry.conditions)
    name = entry.name
    entry.name = "{{ item }}"
    entry.conditions = []
    entry.comments.append(f"{name}, if the condition is true")
    return builder.reference(entry)


def _keep(builder: Conversion, entry: Entry, reason: str) -> None:
    record = entry.record
    lines = [f"NOT CONVERTED: {reason}"]
    if record is not None:
        others = [one for one in builder.manifest.entries() if one is not entry]
        left = {text for one in others if one.record is record for text in one.checks}
        own = set(entry.checks) - left  # about a resource that is not written
        record.reasons = [one for one in record.reasons if one not in own]
        builder.mark(record, KEPT, reason)
    if task := builder.task_of(entry):
        lines += builder.original(task.path, task.line, task.end)
    for other in builder.manifest.entries():
        if entry.reference in other.subscribe:
            other.subscribe = [one for one in other.subscribe if one != entry.reference]
            other.checks.append(
                f"the original also does this after '{record.name if record else ''}'"
            )
    builder.manifest.replace(entry, [Comment(lines)])
