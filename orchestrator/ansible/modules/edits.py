"""``lineinfile``, ``blockinfile``, ``replace``, ``ini_file`` and ``pamd`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja.call_translation import check_expression
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.value_expressions import value_expression
from orchestrator.ansible.modules.files.attributes import attributes, directories_above, validation
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapping_context import Context, clean_path, maps
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import READS_ELEMENT, Entry
from orchestrator.ansible.problems import NotConvertible

_OWN = ("owner", "group", "mode")
_MARKER = "# {mark} ANSIBLE MANAGED BLOCK"


def _entries(
    context: Context, arguments: Arguments, edit: dict[str, Any], create: bool
) -> list[Entry]:
    """The edit, and a file resource if the task also sets attributes."""
    context.as_root()
    path = clean_path(arguments.required("path", "dest", "destfile", "name"))
    arguments.ignore("follow", "unsafe_writes", "others")
    if arguments.others("backup", unless=(False,)):
        context.check("no backup of the file is kept")
    properties: dict[str, Any] = dict(edit)
    made: list[Entry] = []
    if create and properties.get("ensure") != "absent":
        properties["create"] = True
        made += directories_above(context, path)
    properties.update(validation(arguments))
    made.append(Entry("edit", path, properties))
    if any(arguments.raw(name) is not None for name in _OWN):
        made.append(Entry("file", path, attributes(context, arguments, "0644")))
    elif create:
        context.check("a newly created file has mode 0644 and belongs to root")
    return made


def pattern(value: str | None) -> str | None:
    """A regular expression in ccm's form; NotConvertible if it uses features that RE2 lacks."""
    if value is not None:
        check_expression(value)
        if "\\n" in value:
            raise NotConvertible("a regular expression over several lines")
    return value


@maps("lineinfile")
def lineinfile(context: Context, arguments: Arguments) -> list[Entry]:
    """One line of a file."""
    state = arguments.literal("state", default="present")
    match, line = pattern(arguments.text("regexp", "regex")), arguments.text("line", "value")
    search = arguments.text("search_string")
    if search is not None:
        match = escaped(search)  # a line that has this text anywhere
    arguments.refuse("encoding", unless=("utf-8",))
    if state == "absent":
        arguments.ignore("backrefs", "insertafter", "insertbefore", "create", "firstmatch")
        if match is None and line is None:
            raise NotConvertible("no line and no regexp")
        what = {"match": match} if match is not None else {"line": line}
        return _entries(context, arguments, {**what, "ensure": "absent"}, create=False)
    if state != "present" or line is None:
        raise NotConvertible("no line")
    if "\n" in line.rstrip("\n"):
        raise NotConvertible("a line with line breaks; use blockinfile")
    line = line.rstrip("\n")
    if arguments.flag("firstmatch", default=False):
        context.check("with several matches, the original uses the first one, ccm the last")
    create = arguments.flag("create", default=False)
    if arguments.flag("backrefs", default=False):
        return _entries(context, arguments, _with_groups(arguments, match, line), create=False)
    edit: dict[str, Any] = {"line": line}
    if match is not None:
        edit["match"] = match
    place = _place(arguments)
    if place and match is None:
        # The original leaves a line that is anywhere in the file.
        edit["match"] = "^" + escaped(line) + "$"
    edit.update(place)
    return _entries(context, arguments, edit, create)


def escaped(line: str) -> str:
    """A line as a pattern; its templates are escaped when they are rendered."""
    made = ""
    for one in re.split(r"(\{\{.*?\}\})", line):
        if one.startswith("{{"):
            inner = one[2:-2].strip()
            made += "{{ (" + inner + ") | string | regex_escape }}"
        else:
            made += re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", one)
    return made


def _with_groups(arguments: Arguments, match: str | None, line: str) -> dict[str, Any]:
    """``backrefs``: a line that does not match is never added."""
    arguments.ignore("insertafter", "insertbefore", "create")
    if match is None:
        raise NotConvertible("backrefs without regexp")
    if not match.startswith("^") or not match.endswith("$"):
        # The original replaces the whole line, whatever the pattern leaves out of it.
        head = match if match.startswith("^") else f"^.*?{match}"
        match = head if head.endswith("$") else f"{head}.*$"
    if "|" in re.sub(r"\([^()]*\)", "", match):
        raise NotConvertible("backrefs with alternatives")
    return {"match": match, "replace": re.sub(r"\\(\d)", r"\\g<\1>", line)}


def _place(arguments: Arguments) -> dict[str, Any]:
    after, before = arguments.text("insertafter"), arguments.text("insertbefore")
    if after == "BOF":
        return {"before": "BOF"}
    if after not in (None, "EOF", ""):
        return {"after": pattern(after)}
    if before not in (None, ""):
        return {"before": "BOF" if before == "BOF" else pattern(before)}
    return {}


@maps("blockinfile", refused="append_newline prepend_newline", unless=(False,))
def blockinfile(context: Context, arguments: Arguments) -> list[Entry]:
    """Lines between two markers."""
    arguments.refuse(marker_begin="BEGIN", marker_end="END", encoding="utf-8")
    marker = arguments.text("marker") or _MARKER
    if "{mark}" not in marker:
        raise NotConvertible("a marker without {mark}")
    block = arguments.text("block", "content") or ""
    state = arguments.literal("state", default="present")
    create = arguments.flag("create", default=False)
    if state == "absent" or not block:
        arguments.ignore("insertafter", "insertbefore")
        edit = {"block": "", "marker": marker, "ensure": "absent"}
        return _entries(context, arguments, edit, create=False)
    edit = {"block": block if block.endswith("\n") else block + "\n", "marker": marker}
    if "{{" in block and is_template(arguments.raw("block", "content")):
        edit["block"] = block.rstrip("\n") + "\n" if not block.strip().startswith("{{") else block
    edit.update(_place(arguments))
    return _entries(context, arguments, edit, create)


@maps("replace", refused="after before")
def replace(context: Context, arguments: Arguments) -> list[Entry]:
    """Text that matches a pattern."""
    arguments.refuse("encoding", unless=("utf-8",))
    match = pattern(arguments.required("regexp"))
    text = arguments.text("replace") or ""
    assert match is not None
    if "\n" in text or "\n" in match or "(?s" in match:
        raise NotConvertible("a replacement that may span several lines")
    if re.search(r"^\^?\\s[*+]|(?<!\\)\[\^", match):
        context.check("the pattern is searched line by line; it may match a line's end, too")
    edit = {"match": match, "replace": re.sub(r"\\(\d)", r"\\g<\1>", text)}
    return _entries(context, arguments, edit, create=False)


@maps("ini_file", ignored="modify_inactive_option")
def ini_file(context: Context, arguments: Arguments) -> list[Entry]:
    """A key in a section."""
    arguments.refuse("allow_no_value", "ignore_spaces", unless=(False,))
    arguments.refuse("section_has_values", "values")
    if not arguments.flag("exclusive", default=True):
        raise NotConvertible("exclusive: false")
    if arguments.flag("no_extra_spaces", default=False):
        context.check("a new key is written as `key = value`; the original writes no spaces")
    section, option = arguments.text("section"), arguments.text("option")
    value = arguments.printed("value")
    state = arguments.literal("state", default="present")
    create = arguments.flag("create", default=True)
    if option is None:
        if state != "absent" or not section:
            raise NotConvertible("a section without a key")
        return _entries(context, arguments, {"settings": {section: {}}, "ensure": "absent"}, False)
    if state == "absent":
        edit: dict[str, Any] = {"settings": _nested(section, option, ""), "ensure": "absent"}
        return _entries(context, arguments, _with_keys(context, arguments, edit), False)
    if value is None:
        raise NotConvertible("a key without a value")
    if create:
        context.note(
            "a newly created file does not start with a blank line, unlike in the original"
        )
    edit = {"settings": _nested(section, option, value)}
    return _entries(context, arguments, _with_keys(context, arguments, edit), create)


def _with_keys(context: Context, arguments: Arguments, edit: dict[str, Any]) -> dict[str, Any]:
    """The edit, as an expression if a key is computed: ``settings`` has literal keys only.

    The edits of a loop over one file become an expression anyway.
    """
    keys = [key for key, one in edit["settings"].items() for key in (key, *_keys(one))]
    path = arguments.required("path", "dest")
    if not any("{{" in one for one in keys) or (context.looped and not READS_ELEMENT.search(path)):
        return edit
    return {"edits": "{{ [" + value_expression(edit) + "] }}"}


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _nested(section: str | None, option: str, value: str) -> dict[str, Any]:
    return {section: {option: value}} if section else {option: value}


_RULE = ("type", "control", "module_path")
_PAM_ARGUMENT = re.compile(r"\[[^\]]*\]|(?:\{\{.*?\}\}|\S)+")
_PLAIN = re.compile(r"(?:[\w=.,:@+/-]|\{\{[^}]*\}\})+")


@maps("pamd", root=True)
def pamd(context: Context, arguments: Arguments) -> list[Entry]:
    """Rules in a file of PAM."""
    state = arguments.literal("state", default="updated")
    folder = (arguments.text("path") or "/etc/pam.d").rstrip("/")
    path = clean_path(f"{folder}/{arguments.required('name')}")
    old = [arguments.required(one) for one in _RULE]
    new = [arguments.text(f"new_{one}") for one in _RULE]
    rule = r"\s+".join(escaped(one).replace(" ", r"\s+") for one in old)
    given = arguments.listed("module_arguments")
    words = [word for one in given for word in _PAM_ARGUMENT.findall(one)]
    if arguments.others("backup", unless=(False,)):
        context.check("no backup of the file is kept")
    context.note("only this rule changes; the original also writes the time into the file")
    if state == "args_present":
        return [_with_argument(context, path, rule=rule, word=one) for one in words]
    edits: list[dict[str, Any]] = [{"match": rf"^{rule}(\s.*)?$"}]
    if state in ("before", "after"):
        context.check("if several rules match, the new one is next to the last of them")
        line = _pam_line([one or "" for one in new], words)
        edits = [{"line": line, state: edits[0]["match"]}]
    elif state == "absent":
        edits[0]["ensure"] = "absent"
    elif state == "args_absent":
        edits = [
            {"match": rf"^({rule}(?:\s+\S+)*?)\s+{escaped(one)}(\s.*)?$", "replace": r"\g<1>\g<2>"}
            for one in words
        ]
    elif state == "updated":
        wanted = [one or before for one, before in zip(new, old, strict=True)]
        kept = r"\g<1>" if arguments.raw("module_arguments") is None else ""
        edits[0]["replace"] = _pam_line(wanted, words) + kept
    else:
        raise NotConvertible(f"ccm has no equivalent of state {state}")
    context.as_root()
    return [Entry("edit", path, one) for one in edits]


def _pam_line(rule: list[str], words: list[str]) -> str:
    """A rule as the original writes it."""
    kind, *rest = [*rule, *words]
    return " ".join([f"{kind: <10}", *rest])


def _with_argument(context: Context, path: str, *, rule: str, word: str) -> Entry:
    """A command that adds an argument to the rules without it, in place of another value."""
    if _PLAIN.fullmatch(word) is None or "'" in rule:
        raise NotConvertible(f"the argument {word}")
    key, sign, _ = word.partition("=")
    old = rf"{key}=\S*" if sign and "{{" not in key else word
    if word.startswith("{{"):
        old = "{{ (" + word[2 : word.index("}}")].strip() + r").split('=')[0] }}(=\S*)?"
    context.check("sed does this; an argument with another value moves to the end of the rule")
    lacking = rf'grep -E "^{rule}(\s|$)" {path} | grep -vqE "\s{word}(\s|$)"'
    script = rf"\#^{rule}(\s|$)#{{s#\s+{old}(\s|$)#\1#g;s#\s*$# {word}#}}"
    properties = {
        "command": f"sed -i -E '{script}' {path}",
        "provider": "shell",
        "onlyif": shell(lacking),
    }
    return context.exec(f"{word} in {path}", properties)
