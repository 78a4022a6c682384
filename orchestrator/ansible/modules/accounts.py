"""``user``, ``group`` and ``authorized_key`` (controller)."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.printing import text_expression
from orchestrator.ansible.modules.arguments import Arguments
from orchestrator.ansible.modules.context import Context, maps
from orchestrator.ansible.modules.program_modules import shell
from orchestrator.ansible.output.entries import Entry
from orchestrator.ansible.problems import NotConvertible


def state_of(given: Arguments) -> str:
    """``present`` or ``absent``, or an expression with one of them as its result."""
    value = given.raw("state")
    if value is None:
        return "present"
    if is_template(value):
        try:
            literal = given.literal("state")
        except NotConvertible:
            known = given.sample("state").values
            if any(one not in ("present", "absent") for one in known):
                raise
            return text_rewriter.text(value, given.scope)
        value = literal
    if value not in ("present", "absent"):
        raise NotConvertible(f"state {value}")
    return str(value)


def _with_state(given: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    state = state_of(given)
    if state == "present":
        return properties
    return {"ensure": state, **properties}


def _number(given: Arguments, name: str) -> Any:
    value = given.raw(name)
    if value is None or value == "":
        return None
    if isinstance(value, int):
        return value
    text = text_rewriter.text(str(value), given.scope)
    if text.isdigit():
        return int(text)
    if not is_template(value):
        raise NotConvertible(f"{name} {text}")
    inner = text[2:-2].strip()
    kinds = given.sample(name).all_kinds()
    return text if kinds == {"number"} else "{{ " + f"({inner}) | int" + " }}"


@maps("group")
def group(context: Context, given: Arguments) -> list[Entry]:
    """Groups."""
    context.as_root()
    given.refuse("non_unique", "gid_min", "gid_max", unless=(False,))
    given.ignore("local")
    properties: dict[str, Any] = {}
    gid = _number(given, "gid")
    if gid is not None:
        properties["gid"] = gid
    properties.update(given.booleans_by_name("system", default=False))
    if given.raw("force") is not None:
        properties["force"] = given.flag("force", default=False)
    return [Entry("group", given.required("name"), _with_state(given, properties))]


@maps("user")
def user(context: Context, given: Arguments) -> list[Entry]:
    """Users."""
    context.as_root()
    _refuse(given)
    properties: dict[str, Any] = {}
    uid = _number(given, "uid")
    if uid is not None:
        properties["uid"] = uid
    properties.update(given.texts_by_name("comment", "home", "shell", "group"))
    groups = None if _has_no_groups(given) else _groups(given)
    if groups is not None:
        properties["groups"] = groups
        properties.update(given.booleans_by_name("append", default=False))
    else:
        given.ignore("append")
    _home(given, properties)
    _password(given, properties)
    if given.flag("generate_ssh_key", default=False):
        properties["generate_ssh_key"] = True
        context.check("the key that is generated is Ed25519, in .ssh/id_ed25519")
    given.ignore("ssh_key_bits", "ssh_key_type", "ssh_key_comment", "ssh_key_file")
    if given.piece("", "ssh_key_passphrase"):
        context.check("a key that is generated has no passphrase")
    name = given.required("name", "user")
    made = [Entry("user", name, _removal(context, given, properties))]
    secret = properties.pop("password_on_create", None)
    if secret is not None:
        made.append(_first_password(context, name, secret))
    return [*made, *_ageing(context, given, name)]


def _first_password(context: Context, name: str, secret: str) -> Entry:
    """The password of a user that has none yet."""
    context.check("the password is set if the user has none; the original sets it once")
    test = f"getent shadow {name} | cut -d: -f2 | grep -q '[$]'"
    return Entry(
        "exec",
        context.unique(f"first password of {name}"),
        {
            "command": f'printf "%s:%s" {name} "$CCM_PASSWORD" | chpasswd -e',
            "provider": "shell",
            "environment": [f"CCM_PASSWORD={secret}"],
            "unless": shell(test),
        },
        sensitive=True,
    )


_AGES = (("password_expire_max", "-M", 5), ("password_expire_min", "-m", 4),
         ("password_expire_warn", "-W", 6))  # fmt: skip


def _ageing(context: Context, given: Arguments, name: str) -> list[Entry]:
    """Set password aging with chage."""
    words, tests = [], []
    for word, sign, field in _AGES:
        value = given.text(word)
        if value is not None:
            words.append(f"{sign} {value}")
            tests.append(f'[ "$(getent shadow {name} | cut -d: -f{field})" = "{value}" ]')
    if not words:
        return []
    properties = {
        "command": f"chage {' '.join(words)} {name}",
        "unless": shell(" && ".join(tests)),
    }
    return [Entry("exec", context.unique(f"password aging of {name}"), properties)]


def _refuse(given: Arguments) -> None:
    given.refuse(
        "non_unique", "seuser", "login_class", "skeleton", "umask", "profile", "authorization",
        "role", "hidden", "password_expire_account_disable", "uid_min", "uid_max",
        unless=(False,),
    )  # fmt: skip
    given.ignore("local")


_PERHAPS = re.compile(
    r"\{\{\s*([\w.]+)\s*\|\s*default\((?:\[\]|''|\"\")(?:,\s*[Tt]rue)?\)"
    r"(?:\s*\|\s*join\(\s*(?:','|\",\")\s*\))?\s*\}\}"
)


def _has_no_groups(given: Arguments) -> bool:
    """Whether ``groups`` is an empty default: with ``append``, the groups do not change."""
    raw = given.raw("groups")
    match = _PERHAPS.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or given.boolean("append") in (None, False):
        return False
    return given.is_omitted("groups", f"{{{{ {match.group(1)} | default(omit) }}}}")


def _groups(given: Arguments) -> Any:
    raw = given.raw("groups")
    if raw is None:
        return None
    if isinstance(raw, str) and is_template(raw):
        kinds = given.sample("groups").all_kinds()
        text = text_rewriter.text(raw, given.scope)
        if kinds == {"list"}:
            return text
        inner = text[2:-2].strip()
        if "join(" in text and kinds == {"text"}:
            inner = text_expression(text)
        elif not text.startswith("{{") or text.count("{{") > 1:
            found = given.texts("groups")
            if isinstance(found, list):
                return found
            raise NotConvertible("computed groups")
        if kinds == {"text"}:
            return "{{ " + f"({inner}).split(',') | select | map('trim') | list" + " }}"
        raise NotConvertible("groups that may be a list or a text")
    return given.texts("groups")


def _home(given: Arguments, properties: dict[str, Any]) -> None:
    system = given.boolean("system")
    create = given.boolean("create_home", "createhome")
    if system is not None and system is not False:
        properties["system"] = system
        if create is None:
            # The original creates one for users of the system, too.
            properties["create_home"] = True
    if create is not None:
        properties["create_home"] = create
    properties.update(given.booleans_by_name("move_home", default=False))


def _password(given: Arguments, properties: dict[str, Any]) -> None:
    password = given.text("password")
    update = given.literal("update_password", default="always")
    if password is not None:
        if update == "on_create" and password in ("!", "!!", "*"):
            pass  # a new user without a password is locked
        elif update != "always":
            properties["password_on_create"] = password
        elif password in ("!", "!!", "*"):
            properties["locked"] = True
        else:
            properties["password"] = password
    lock = given.boolean("password_lock")
    if lock is not None:
        properties["locked"] = lock
    expires = given.raw("expires")
    if expires is not None:
        if is_template(expires) or float(expires) >= 0:
            raise NotConvertible("expires as a number of seconds")
        properties["expires"] = "never"


def _removal(context: Context, given: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    remove, force = given.boolean("remove"), given.boolean("force")
    state = state_of(given)
    if state == "present":
        return properties
    if remove is not None and remove is not False:
        properties["remove_home"] = remove
    if force is True:
        properties["kill_processes"] = True
        context.check("with force, the original leaves the processes of the user alone")
    return _with_state(given, properties)


@maps("authorized_key")
def authorized_key(context: Context, given: Arguments) -> list[Entry]:
    """Keys that are allowed to log in."""
    context.as_root()
    given.refuse("manage_dir", unless=(True,))
    given.ignore("validate_certs", "follow")
    name = given.required("user", "username")
    raw = given.raw("key")
    if raw is None:
        raise NotConvertible("no key")
    if isinstance(raw, str) and raw.startswith(("http://", "https://", "file:")):
        raise NotConvertible("a key from a URL")
    if isinstance(raw, str) and is_template(raw):
        known = [one for one in given.sample("key").values if isinstance(one, str)]
        if any(one.startswith("http") for one in known):
            raise NotConvertible("a key from a URL")
    properties: dict[str, Any] = {"user": name, "key": given.value("key")}
    properties.update(given.texts_by_name(options="key_options"))
    properties.update(given.texts_by_name("comment", "path"))
    properties.update(given.booleans_by_name("exclusive", default=False))
    title = context.unique(context.title(f"keys of {name}"))
    return [Entry("authorized_key", title, _with_state(given, properties))]
