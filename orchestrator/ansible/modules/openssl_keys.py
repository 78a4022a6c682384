"""Keys, requests and certificates of OpenSSL (controller)."""

import re
from typing import Any

from orchestrator.ansible.modules.guarded_commands import by_program, words
from orchestrator.ansible.modules.mapping_context import Context, clean_path, maps
from orchestrator.ansible.modules.module_arguments import Arguments, shell_word
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_MODES = {"openssl_privatekey": "0600"}


@maps("openssl_privatekey", "openssl_dhparam", "openssl_csr", "x509_certificate")
def openssl(context: Context, arguments: Arguments) -> list[Entry]:
    """Keys, requests and certificates that are created if they are missing."""
    module = context.task.module
    arguments.refuse("force", "backup", "return_content", unless=(False,))
    arguments.ignore("select_crypto_backend", "state", "use_common_name_for_san", "format")
    path = clean_path(arguments.required("path"))
    mode = arguments.mode("mode") or _MODES.get(module)
    owner, group = arguments.text("owner"), arguments.text("group")
    extra: dict[str, Any] = {}
    if module == "openssl_privatekey":
        line = _private_key(arguments, path, extra)
    elif module == "openssl_dhparam":
        line = f"openssl dhparam -out {path} {arguments.text('size') or '4096'}"
    elif module == "openssl_csr":
        line = _request(arguments, path)
    else:
        line = _certificate(arguments, path)
    lines = [f"umask 077 && {line}" if module == "openssl_privatekey" else line]
    both = f"{owner or ''}{':' + group if group else ''}"
    lines += [f"chown {both} {path}"] if both else []
    lines += [f"chmod {mode} {path}"] if mode else []
    context.check("it is only created if it is missing; the original also compares its content")
    return by_program(context, "openssl")(
        " && ".join(lines), creates=path, fallback=f"make {path}", **extra
    )


def _private_key(arguments: Arguments, path: str, extra: dict[str, Any]) -> str:
    kind, size = arguments.literal("type", default="RSA"), arguments.text("size") or "4096"
    arguments.refuse("curve", "cipher", unless=("auto",))
    phrase = arguments.text("passphrase")
    if kind != "RSA":
        raise NotConvertible(f"a key of the type {kind}")
    lock = ""
    if phrase:
        extra["environment"] = [f"CCM_PASSWORD={phrase}"]
        lock = "-aes256 -passout env:CCM_PASSWORD"
    return words("openssl genrsa", lock, f"-out {path} {size}")


_SUBJECT = (
    ("country_name", "C"),
    ("state_or_province_name", "ST"),
    ("locality_name", "L"),
    ("organization_name", "O"),
    ("organizational_unit_name", "OU"),
    ("common_name", "CN"),
    ("email_address", "emailAddress"),
)


def _request(arguments: Arguments, path: str) -> str:
    arguments.refuse(
        "privatekey_passphrase",
        "privatekey_content",
        "key_usage",
        "extended_key_usage",
        "basic_constraints",
        "subject",
        "subject_ordered",
        "ocsp_must_staple",
    )
    arguments.refuse("digest", unless=("sha256",))
    arguments.ignore("version")
    parts = [f"/{sign}={text}" for name, sign in _SUBJECT if (text := arguments.text(name))]
    shown = ",".join(arguments.listed("subject_alt_name"))
    return words(
        f"openssl req -new -sha256 -key {arguments.required('privatekey_path')} -out {path}",
        f"-subj {shell_word(''.join(parts) or '/')}",
        f"-addext {shell_word('subjectAltName=' + shown)}" if shown else "",
    )


def _certificate(arguments: Arguments, path: str) -> str:
    arguments.refuse("privatekey_passphrase", "privatekey_content", "csr_content", "ownca_path")
    arguments.refuse("selfsigned_digest", unless=("sha256",))
    arguments.ignore("selfsigned_not_before")
    if arguments.literal("provider") != "selfsigned":
        raise NotConvertible("a certificate that is not self-signed")
    after = arguments.text("selfsigned_not_after") or "+3650d"
    match = re.fullmatch(r"\+(\d+)d", after)
    if match is None:
        raise NotConvertible(f"a certificate that is valid until {after}")
    key, request = arguments.required("privatekey_path"), arguments.text("csr_path")
    if request is None:
        return (
            f"openssl req -x509 -new -sha256 -key {key} -days {match.group(1)} -subj / -out {path}"
        )
    return (
        f"openssl x509 -req -sha256 -in {request} -signkey {key} -days {match.group(1)} -out {path}"
    )
