"""``user``, ``group`` and ``authorized_key`` (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.jinja.value_expressions import text_expression
from orchestrator.ansible.modules.guarded_commands import shell
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, number_or_text
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible


def state_of(arguments: Arguments) -> str:
    """``present`` or ``absent``, or an expression with one of them as its result."""
    value = arguments.raw("state")
    if value is None:
        return "present"
    if is_template(value):
        try:
            literal = arguments.literal("state")
        except NotConvertible:
            known = arguments.sample("state").values
            if any(one not in ("present", "absent") for one in known):
                raise
            return text_rewriter.text(value, arguments.scope)
        value = literal
    if value not in ("present", "absent"):
        raise NotConvertible(f"ccm has no equivalent of state {value}")
    return str(value)


def _with_state(arguments: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    state = state_of(arguments)
    if state == "present":
        return properties
    return {"ensure": state, **properties}


def _number(arguments: Arguments, name: str) -> Any:
    value = arguments.raw(name)
    if value is None or value == "":
        return None
    if isinstance(value, int):
        return value
    text = text_rewriter.text(str(value), arguments.scope)
    number = number_or_text(text)
    if isinstance(number, int):
        return number
    if not is_template(value):
        raise NotConvertible(f"{name} {text}")
    inner = text[2:-2].strip()
    kinds = arguments.sample(name).all_kinds()
    return text if kinds == {"number"} else "{{ " + f"({inner}) | int" + " }}"


@maps("group", root=True, refused="non_unique gid_min gid_max", unless=(False,), ignored="local")
def group(context: Context, arguments: Arguments) -> list[Entry]:
    """Groups."""
    properties: dict[str, Any] = {}
    gid = _number(arguments, "gid")
    if gid is not None:
        properties["gid"] = gid
    properties.update(arguments.booleans_by_name("system", default=False))
    if arguments.raw("force") is not None:
        properties["force"] = arguments.flag("force", default=False)
    return [Entry("group", arguments.required("name"), _with_state(arguments, properties))]


@maps("user", root=True)
def user(context: Context, arguments: Arguments) -> list[Entry]:
    """Users."""
    _refuse(arguments)
    properties: dict[str, Any] = {}
    uid = _number(arguments, "uid")
    if uid is not None:
        properties["uid"] = uid
    properties.update(arguments.texts_by_name("comment", "home", "shell", "group"))
    groups = None if _has_no_groups(arguments) else _groups(arguments)
    if groups is not None:
        properties["groups"] = groups
        properties.update(arguments.booleans_by_name("append", default=False))
    else:
        arguments.ignore("append")
    _home(arguments, properties)
    _password(context, arguments, properties)
    if arguments.flag("generate_ssh_key", default=False):
        properties["generate_ssh_key"] = True
        context.check("the generated key is an Ed25519 key in .ssh/id_ed25519")
    arguments.ignore("ssh_key_bits", "ssh_key_type", "ssh_key_comment", "ssh_key_file")
    if arguments.piece("", "ssh_key_passphrase"):
        context.check("a generated key has no passphrase")
    name = arguments.required("name", "user")
    made = [Entry("user", name, _removal(context, arguments, properties))]
    secret = properties.pop("password_on_create", None)
    if secret is not None:
        made.append(_first_password(context, name, secret))
    return [*made, *_ageing(context, arguments, name)]


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


def _ageing(context: Context, arguments: Arguments, name: str) -> list[Entry]:
    """Set password aging with chage."""
    words, tests = [], []
    for word, sign, field in _AGES:
        value = arguments.text(word)
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


def _refuse(arguments: Arguments) -> None:
    arguments.refuse(
        "non_unique", "seuser", "login_class", "skeleton", "umask", "profile", "authorization",
        "role", "hidden", "password_expire_account_disable", "uid_min", "uid_max",
        unless=(False,),
    )  # fmt: skip
    arguments.ignore("local")


_PERHAPS = re.compile(
    r"\{\{\s*([\w.]+)\s*\|\s*default\((?:\[\]|''|\"\")(?:,\s*[Tt]rue)?\)"
    r"(?:\s*\|\s*join\(\s*(?:','|\",\")\s*\))?\s*\}\}"
)


def _has_no_groups(arguments: Arguments) -> bool:
    """Whether ``groups`` is an empty default: with ``append``, the groups do not change."""
    raw = arguments.raw("groups")
    match = _PERHAPS.fullmatch(raw) if isinstance(raw, str) else None
    if match is None or arguments.boolean("append") in (None, False):
        return False
    return arguments.is_omitted("groups", f"{{{{ {match.group(1)} | default(omit) }}}}")


def _groups(arguments: Arguments) -> Any:
    raw = arguments.raw("groups")
    if raw is None:
        return None
    if isinstance(raw, str) and is_template(raw):
        kinds = arguments.sample("groups").all_kinds()
        text = text_rewriter.text(raw, arguments.scope)
        if kinds == {"list"}:
            return text
        inner = text[2:-2].strip()
        if "join(" in text and kinds == {"text"}:
            inner = text_expression(text)
        elif not text.startswith("{{") or text.count("{{") > 1:
            found = arguments.texts("groups")
            if isinstance(found, list):
                return found
            raise NotConvertible("computed groups")
        if kinds == {"text"}:
            return "{{ " + f"({inner}).split(',') | select | map('trim') | list" + " }}"
        raise NotConvertible("groups that may be a list or text")
    return arguments.texts("groups")


def _home(arguments: Arguments, properties: dict[str, Any]) -> None:
    system = arguments.boolean_or(False, "system")
    create = arguments.boolean_or(True, "create_home", "createhome")
    if system is not None and system is not False:
        properties["system"] = system
        if create is None:
            # The original creates one for users of the system, too.
            properties["create_home"] = True
    if create is not None:
        properties["create_home"] = create
    properties.update(arguments.booleans_by_name("move_home", default=False))


_OR_LOCKED = re.compile(
    r"""^\{\{\s*(?P<value>[\w.]+)\s*(\|\s*default\(\s*(['"])(!!?|\*)\3\s*(,\s*true\s*)?\)|"""
    r"""if\s+(?P=value)\s+is\s+defined\s+else\s+(['"])(!!?|\*)\6)\s*\}\}$"""
)


_LOCKS = ("!", "!!", "*")


def _password(context: Context, arguments: Arguments, properties: dict[str, Any]) -> None:
    is_locked = arguments.rewrite("password", _OR_LOCKED, r"{{ \g<value> | default(omit) }}")
    password = arguments.text("password")
    if password is None and is_locked:
        properties["locked"] = True
    update = arguments.literal("update_password", default="always")
    if password is not None:
        if update == "on_create" and password in _LOCKS:
            pass  # a new user without a password is locked
        elif update != "always":
            properties["password_on_create"] = password
        elif password in _LOCKS:
            properties["locked"] = True
            context.check(
                f"the password is locked with !, so that a user who has one keeps it behind the !; "
                f"the original replaces it with {password}"
            )
        else:
            properties["password"] = password
    lock = arguments.boolean("password_lock")
    if lock is not None:
        properties["locked"] = lock
    expires = arguments.raw("expires")
    if expires is not None:
        if is_template(expires) or float(expires) >= 0:
            raise NotConvertible("expires as a number of seconds")
        properties["expires"] = "never"


def _removal(context: Context, arguments: Arguments, properties: dict[str, Any]) -> dict[str, Any]:
    remove, force = arguments.boolean("remove"), arguments.boolean("force")
    state = state_of(arguments)
    if state == "present":
        return properties
    if remove is not None and remove is not False:
        properties["remove_home"] = remove
    if force is True:
        properties["kill_processes"] = True
        context.check("with force, ccm ends the processes of the user; the original does not")
    return _with_state(arguments, properties)


_EMPTY_DEFAULT = re.compile(r"default\(\s*(\[\]|''|\"\")")


@maps("authorized_key", root=True, ignored="validate_certs follow")
def authorized_key(context: Context, arguments: Arguments) -> list[Entry]:
    """Keys that are allowed to log in."""
    arguments.refuse("manage_dir", unless=(True,))
    name = arguments.required("user", "username")
    raw = arguments.raw("key")
    if raw is None:
        raise NotConvertible("no key")
    if isinstance(raw, str) and raw.startswith(("http://", "https://", "file:")):
        raise NotConvertible("a key from a URL")
    if isinstance(raw, str) and is_template(raw):
        known = [one for one in arguments.sample("key").values if isinstance(one, str)]
        if any(one.startswith("http") for one in known):
            raise NotConvertible("a key from a URL")
    properties: dict[str, Any] = {"user": name, "key": arguments.value("key")}
    properties.update(arguments.texts_by_name(options="key_options"))
    properties.update(arguments.texts_by_name("comment", "path"))
    properties.update(arguments.booleans_by_name("exclusive", default=False))
    title = context.unique(context.title(f"keys of {name}"))
    entry = Entry("authorized_key", title, _with_state(arguments, properties))
    if _EMPTY_DEFAULT.search(str(raw)):
        context.needed.append(f"({text_expression(properties['key'])}) not in ['', []]")
        if properties.get("exclusive"):
            context.check("without a key, the original removes all keys; here, they are kept")
    return [entry]
