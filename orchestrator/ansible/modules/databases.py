"""Databases, users and extensions of MySQL, PostgreSQL and RabbitMQ (controller)."""

import re
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.modules.guarded_commands import by_program, state_of, word, words
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments, expression_of, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_NAME = re.compile(r"[\w.@%-]+")


def _mysql(arguments: Arguments) -> tuple[str, dict[str, Any]]:
    """The client with its login, and additional properties of the command."""
    arguments.refuse("ca_cert", "client_cert", "client_key", "ssl_ca", "login_db")
    arguments.ignore("connect_timeout", "check_hostname", "check_implicit_admin")
    password = arguments.text("login_password")
    parts = [
        arguments.piece("--defaults-extra-file=", "config_file"),
        arguments.piece("-u", "login_user"),
        arguments.piece("-h", "login_host"),
        arguments.piece("-P", "login_port"),
        arguments.piece("-S", "login_unix_socket"),
    ]
    extra: dict[str, Any] = {}
    if password:
        extra["environment"] = [f"MYSQL_PWD={password}"]
    return words("mysql", *parts), extra


def _of_sql(text: str) -> str:
    """A name in a statement; NotConvertible if it needs quotes."""
    if "{{" not in text and _NAME.fullmatch(text) is None:
        raise NotConvertible(f"the name {text} in an SQL statement")
    return text


@maps(
    "mysql_db",
    refused="single_transaction quick ignore_tables hex_blob dump_extra_args force use_shell "
    "unsafe_login_password chdir pipefail",
    unless=(False, True),
)
def mysql_db(context: Context, arguments: Arguments) -> list[Entry]:
    """Databases of MySQL and MariaDB."""
    client, extra = _mysql(arguments)
    names = arguments.raw("name", "db")
    if not isinstance(names, str):
        raise NotConvertible("several databases")
    name = _of_sql(arguments.required("name", "db"))
    state = state_of(arguments, "present", "absent", "import", "dump")
    target = arguments.text("target")
    if state in ("import", "dump"):
        if target is None or target.endswith((".gz", ".bz2", ".xz")):
            raise NotConvertible(f"ccm has no equivalent of state {state} of a compressed file")
        arguments.ignore("encoding", "collation")
        dump = client.replace("mysql", "mysqldump", 1)
        line = f"{client} {name} < {target}" if state == "import" else f"{dump} {name} > {target}"
        return by_program(context, "mysql")(line, fallback=f"{state} {name}", **extra)
    test = f'{client} -N -e "SHOW DATABASES" | grep -qxF -- "{name}"'
    if state == "absent":
        return by_program(context, "mysql")(
            f'{client} -e "DROP DATABASE \\`{name}\\`"',
            onlyif=test,
            fallback=f"no database {name}",
            **extra,
        )
    encoding = arguments.piece("CHARACTER SET ", "encoding", quote=False)
    collation = arguments.piece("COLLATE ", "collation", quote=False)
    create = words(f"CREATE DATABASE \\`{name}\\`", encoding, collation)
    return by_program(context, "mysql")(
        f'{client} -e "{create}"', unless=test, fallback=f"database {name}", **extra
    )


@maps(
    "mysql_user",
    refused="plugin plugin_auth_string plugin_hash_string tls_requires resource_limits "
    "host_all subtract_privs",
    unless=(False,),
    ignored="sql_log_bin update_password column_case_sensitive append_privs session_vars "
    "force_context",
)
def mysql_user(context: Context, arguments: Arguments) -> list[Entry]:
    """Users of MySQL and MariaDB with their privileges."""
    client, extra = _mysql(arguments)
    user, host = arguments.text("name", "user") or "", arguments.text("host") or "localhost"
    for one in (user, host):
        if one:
            _of_sql(one)
    account = f"'{user}'@'{host}'"
    query = f"SELECT 1 FROM mysql.user WHERE User='{user}' AND Host='{host}'"
    test = f'{client} -N -e "{query}" | grep -q 1'
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("password", "priv", "encrypted")
        return by_program(context, "mysql")(
            f'{client} -e "DROP USER {account}"', onlyif=test, fallback=f"no user {user}", **extra
        )
    lines = [f"CREATE USER IF NOT EXISTS {account};"]
    if arguments.raw("password") is not None:
        secret = arguments.text("password")
        extra["environment"] = [*extra.get("environment", []), f"CCM_PASSWORD={secret}"]
        how = (
            "PASSWORD '$CCM_PASSWORD'"
            if arguments.flag("encrypted", default=False)
            else "'$CCM_PASSWORD'"
        )
        lines.append(f"ALTER USER {account} IDENTIFIED BY {how};")
    lines += _grants(arguments, account)
    context.check(
        "password and privileges are set when the user is created; an existing user is not changed"
    )
    command = f"{client} <<SQL\n" + "\n".join(lines) + "\nSQL"
    return by_program(context, "mysql")(command, unless=test, fallback=f"user {user}", **extra)


def _grants(arguments: Arguments, account: str) -> list[str]:
    value = arguments.raw("priv")
    if value is None or value == "":
        return []
    if isinstance(value, dict):
        value = "/".join(f"{key}:{one}" for key, one in value.items())
    if not is_template(value):
        return [_grant(one, account) for one in str(value).split("/") if one.strip()]
    if arguments.sample("priv").all_kinds() & {"map"}:
        raise NotConvertible("privileges as a map in a variable")
    body = (
        "{% for one in ("
        + expression_of(value, arguments.scope)
        + ").split('/') %}GRANT {{ one.rpartition(':')[2] | replace(',GRANT', '') }} ON "
        "{{ one.rpartition(':')[0] | replace('`', '') }} TO "
        + account
        + "{% if one.endswith(',GRANT') %} WITH GRANT OPTION{% endif %};\n{% endfor %}"
    )
    from orchestrator.ansible.jinja.unparse import literal

    return ["{{ template(" + literal(body) + ") }}"]


def _grant(part: str, account: str) -> str:
    place, _, rights = part.strip().rpartition(":")
    words_ = [one.strip() for one in rights.split(",")]
    option = " WITH GRANT OPTION" if "GRANT" in words_ else ""
    left = [one for one in words_ if one != "GRANT"] or ["USAGE"]
    base, _, table = place.replace("`", "").rpartition(".")
    if not base or not table:
        raise NotConvertible(f"the privileges {part}")
    shown = ".".join(one if one == "*" else f"\\`{one}\\`" for one in (base, table))
    return f"GRANT {', '.join(left)} ON {shown} TO {account}{option};"


def _is_local(arguments: Arguments) -> bool:
    """Whether the server is this host, so that a given socket counts."""
    if "login_host" not in arguments.names():
        return True
    known = arguments.sample("login_host").values
    return bool(known) and all(one in ("localhost", "", None) for one in known)


def _psql(arguments: Arguments) -> tuple[str, dict[str, Any]]:
    arguments.refuse("ca_cert", "ssl_cert", "ssl_key", "session_role")
    arguments.refuse("ssl_mode", unless=("prefer",))
    arguments.ignore("trust_input")
    password = arguments.text("login_password")
    places = ("login_host", "login_unix_socket")
    parts = [
        arguments.piece("-U ", "login_user"),
        arguments.piece("-h ", *(places[::-1] if _is_local(arguments) else places)),
        arguments.piece("-p ", "port", "login_port"),
    ]
    extra: dict[str, Any] = {"environment": [f"PGPASSWORD={password}"]} if password else {}
    return words("psql", *parts), extra


@maps(
    "postgresql_db",
    refused="target target_opts dump_extra_args tablespace conn_limit maintenance_db icu_locale",
    unless=("postgres",),
)
def postgresql_db(context: Context, arguments: Arguments) -> list[Entry]:
    """Databases of PostgreSQL."""
    client, extra = _psql(arguments)
    options = client.removeprefix("psql")
    name = _of_sql(arguments.required("name", "db"))
    query = f"SELECT 1 FROM pg_database WHERE datname='{name}'"
    test = f'{client} -d postgres -tAc "{query}" | grep -q 1'
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("owner", "encoding", "lc_collate", "lc_ctype", "template")
        return by_program(context, "psql")(
            f"dropdb{options} {name}", onlyif=test, fallback=f"no database {name}", **extra
        )
    command = words(
        f"createdb{options}",
        arguments.piece("-O ", "owner"),
        arguments.piece("-E ", "encoding"),
        arguments.piece("--lc-collate=", "lc_collate"),
        arguments.piece("--lc-ctype=", "lc_ctype"),
        arguments.piece("-T ", "template"),
        name,
    )
    context.check("owner, encoding and locale of an existing database are not changed")
    return by_program(context, "psql")(command, unless=test, fallback=f"database {name}", **extra)


@maps("postgresql_user", ignored="encrypted no_password_changes fail_on_user expires comment")
def postgresql_user(context: Context, arguments: Arguments) -> list[Entry]:
    """Roles of PostgreSQL."""
    arguments.refuse("groups", "conn_limit", "configuration")
    client, extra = _psql(arguments)
    name = _of_sql(arguments.required("name", "user"))
    database = arguments.text("db", "login_db") or "postgres"
    test = (
        f"{client} -d postgres -tAc \"SELECT 1 FROM pg_roles WHERE rolname='{name}'\" | grep -q 1"
    )
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("password", "priv", "role_attr_flags")
        return by_program(context, "psql")(
            f"dropuser{client.removeprefix('psql')} {name}",
            onlyif=test,
            fallback=f"no user {name}",
            **extra,
        )
    rights = arguments.text("priv")
    flags = arguments.raw("role_attr_flags")
    shown = "" if flags is None else _flags(arguments)
    lines = [words(f'CREATE ROLE "{name}" LOGIN', shown)]
    if arguments.raw("password") is not None:
        secret = arguments.text("password")
        extra["environment"] = [*extra.get("environment", []), f"CCM_PASSWORD={secret}"]
        client += ' -v secret="$CCM_PASSWORD"'
        lines[0] += " PASSWORD :'secret'"
    lines[0] += ";"
    if rights:
        if "{{" in rights or "/" in rights or ":" in rights:
            raise NotConvertible("privileges of tables")
        lines.append(f'GRANT {rights} ON DATABASE "{database}" TO "{name}";')
    context.check(
        "password and attributes are set when the role is created; an existing role is not changed"
    )
    command = f"{client} -v ON_ERROR_STOP=1 -d {database} <<'SQL'\n" + "\n".join(lines) + "\nSQL"
    return by_program(context, "psql")(command, unless=test, fallback=f"user {name}", **extra)


def _flags(arguments: Arguments) -> str:
    text = arguments.piece("", "role_attr_flags", quote=False)
    if "{{" not in text:
        return text.replace(",", " ")
    return "{{ (" + text[2:-2].strip() + ") | replace(',', ' ') }}"


@maps("postgresql_ext", refused="version cascade schema", unless=("latest", False))
def postgresql_ext(context: Context, arguments: Arguments) -> list[Entry]:
    """Extensions of a database."""
    client, extra = _psql(arguments)
    name = _of_sql(arguments.required("name", "ext"))
    database = arguments.required("db", "login_db")
    present = state_of(arguments, "present", "absent") == "present"
    query = f"SELECT 1 FROM pg_extension WHERE extname='{name}'"
    test = f'{client} -d {shell_word(database)} -tAc "{query}" | grep -q 1'
    verb = "CREATE" if present else "DROP"
    command = f"{client} -d {shell_word(database)} -c '{verb} EXTENSION \"{name}\"'"
    return by_program(context, "psql")(
        command, present=present, test=test, fallback=f"extension {name}", **extra
    )


@maps("rabbitmq_plugin", refused="prefix broker_state", unless=("online", "offline"))
def rabbitmq_plugin(context: Context, arguments: Arguments) -> list[Entry]:
    """Plugins of RabbitMQ."""
    enabled = state_of(arguments, "enabled", "disabled") == "enabled"
    if enabled and text_rewriter.as_bool(arguments.raw("new_only")) is not True:
        context.check("plugins that the task does not name stay enabled")
    arguments.ignore("new_only")
    verb = "enable" if enabled else "disable"
    made: list[Entry] = []
    for name in arguments.listed("names", "name"):
        made += by_program(context, "rabbitmq-plugins")(
            f"rabbitmq-plugins {verb} {shell_word(name)}",
            present=enabled,
            test=f"rabbitmq-plugins list -q -e -m | grep -qxF {shell_word(name)}",
            fallback=f"{verb} {name}",
        )
    return made


@maps("rabbitmq_vhost", refused="tracing node", unless=(False, "rabbit"))
def rabbitmq_vhost(context: Context, arguments: Arguments) -> list[Entry]:
    """Virtual hosts of RabbitMQ."""
    name = word(arguments, "name", "vhost")
    present = state_of(arguments, "present", "absent") == "present"
    test = f"rabbitmqctl -q list_vhosts | grep -qxF {name}"
    verb = "add_vhost" if present else "delete_vhost"
    return by_program(context, "rabbitmqctl")(
        f"rabbitmqctl {verb} {name}", present=present, test=test, fallback=f"{verb} {name}"
    )


@maps("rabbitmq_user", ignored="force update_password login_protocol")
def rabbitmq_user(context: Context, arguments: Arguments) -> list[Entry]:
    """Users of RabbitMQ."""
    arguments.refuse("permissions", "node", "topic_permissions", unless=("rabbit",))
    name = word(arguments, "user", "name", "username")
    test = f"rabbitmqctl -q list_users | cut -f 1 | grep -qxF {name}"
    if state_of(arguments, "present", "absent") == "absent":
        arguments.ignore("password", "tags", "vhost", "configure_priv", "write_priv", "read_priv")
        return by_program(context, "rabbitmqctl")(
            f"rabbitmqctl delete_user {name}", onlyif=test, fallback=f"no user {name}"
        )
    extra: dict[str, Any] = {}
    secret = arguments.text("password")
    if secret is not None:
        extra["environment"] = [f"CCM_PASSWORD={secret}"]
    lines = [f'printf %s "$CCM_PASSWORD" | rabbitmqctl add_user {name}']
    tags = arguments.listed("tags")
    if tags:
        lines.append(f"rabbitmqctl set_user_tags {name} {' '.join(tags)}")
    rights = [arguments.text(one) for one in ("configure_priv", "write_priv", "read_priv")]
    if any(one is not None for one in rights) or arguments.raw("vhost") is not None:
        place = arguments.text("vhost") or "/"
        shown = " ".join(f'"{one or "^$"}"' for one in rights)
        lines.append(f"rabbitmqctl set_permissions -p {place} {name} {shown}")
    context.check("an existing user is not changed, including password, tags and permissions")
    return by_program(context, "rabbitmqctl")(
        " && ".join(lines), unless=test, fallback=f"user {name}", **extra
    )
