"""Certificates of a scheduler, its workers and controllers: a small CA, and their directory (both).

A directory has ``ca.pem`` and, for each of its roles, ``ROLE.pem`` and ``ROLE-key.pem``.
"""

import datetime
import os
import re
import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, NamedTuple

from remote_runtime.errors import UsageError

VARIABLE = "CCM_ENGINE_TLS"
Role = Literal["scheduler", "worker", "client"]
ROLES: tuple[Role, ...] = ("scheduler", "worker", "client")
_ADDRESS = r"([\w.-]+|\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]):(\d{1,5})"
_WRONG = {
    "NO_CERTIFICATE_OR_CRL_FOUND": "it contains no certificate",
    "KEY_VALUES_MISMATCH": "the key belongs to another certificate",
}
_AUTHORITY_DAYS = 3650
_DAYS = 825
_BACK = datetime.timedelta(minutes=5)  # that a clock elsewhere may be slow


def default_directory() -> Path:
    """``$XDG_CONFIG_HOME/ccm/engine``, by default ``~/.config/ccm/engine``."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".config"
    return root / "ccm" / "engine"


def scheduler_address(option: str, given: str, scheme: str = "") -> str:
    """``HOST:PORT`` in the value of an option, after the ``scheme``; UsageError."""
    found = re.fullmatch(_ADDRESS, given.removeprefix(scheme), re.ASCII)
    if found is None or not 0 < int(found[2]) < 65536:
        raise UsageError(
            f"{option} {given[:80]!r} is not the address of a scheduler",
            hint=f"write {scheme}HOST:PORT, such as {scheme}scheduler.example.net:8786, with a "
            "port from 1 to 65535 and an IPv6 address in brackets",
        )
    return found[0]


def is_loopback(address: str) -> bool:
    """Whether ``HOST:PORT`` can only be on this machine."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def protected(address: str, role: Role, directory: str | None = None) -> tuple[str, Any]:
    """The address as Dask writes it, and its ``Security``: TLS is used for other machines.

    On this machine, it is used only if a ``directory`` is set, as the argument or in
    ``CCM_ENGINE_TLS``. UsageError.
    """
    if directory == "":
        raise UsageError("--tls is empty", hint="set the directory of the certificates")
    named = directory or os.environ.get(VARIABLE)
    if not named and is_loopback(address):
        return f"tcp://{address}", None
    home = Path(named) if named else default_directory()
    files = [str(home / name) for name in ("ca.pem", f"{role}.pem", f"{role}-key.pem")]
    missing = [name for name in files if not os.path.isfile(name)]
    if missing:
        raise UsageError(
            f"no TLS for the scheduler {address}: {missing[0]} is missing",
            hint="create certificates with ccm engine init, copy the ones for this machine to it, "
            f"and set their directory in {VARIABLE}" + (" or --tls" if role == "worker" else ""),
        )
    _check_private(Path(files[2]))
    _check_pair(*files)
    from orchestrator.cluster.dask_api import Security

    security = Security(
        require_encryption=True,
        tls_ca_file=files[0],
        **{f"tls_{part}_cert": files[1] for part in (role, "client")},  # a worker is both
        **{f"tls_{part}_key": files[2] for part in (role, "client")},
    )
    return f"tls://{address}", security


def no_answer(option: str, address: str, security: Any, error: BaseException) -> UsageError:
    """The message if no scheduler answers at an address in Dask's form."""
    from orchestrator.cluster.scheduler_probe import Fault, probe

    names = VARIABLE + (" or --tls" if option == "--scheduler" else "")
    found = probe(address, security, names)
    if found is None:
        cause = error.__cause__ if isinstance(error, RuntimeError) else None
        lines = str(cause or error).splitlines() or [type(error).__name__]
        found = Fault(lines[0][:200], "is this a Dask scheduler?")
    return UsageError(
        f"{option}: no Dask scheduler responds at {address}: {found.what}", hint=found.hint
    )


def make_authority(directory: Path) -> list[Path]:
    """Create a CA and a certificate for each role in a directory; return the files. UsageError,
    OSError.
    """
    known = [path.name for path in directory.glob("*.pem")] if directory.is_dir() else []
    if known:
        raise UsageError(
            f"{directory} already contains certificates: {', '.join(sorted(known)[:4])}",
            hint=(
                "use another directory for a new CA; certificates of the existing CA remain valid"
            ),
        )
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    authority = _issue("ccm engine CA", None, _AUTHORITY_DAYS)
    made = _keep(directory, "ca", authority)
    for role in ROLES:
        made += _keep(directory, role, _issue(f"ccm {role}", authority, _DAYS))
    return made


class _Identity(NamedTuple):
    """A certificate and its key, of ``cryptography``."""

    certificate: Any
    key: Any


def _issue(common: str, issuer: _Identity | None, days: int) -> _Identity:
    """A certificate for a name with this validity; a CA certificate if there is no issuer."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACK)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
    )
    return _Identity(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


def _keep(directory: Path, name: str, identity: _Identity) -> list[Path]:
    """Write a certificate and its key; OSError."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = identity.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return [
        _write(directory / f"{name}.pem", identity.certificate.public_bytes(Encoding.PEM)),
        _write(directory / f"{name}-key.pem", private),
    ]


def _write(path: Path, data: bytes) -> Path:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    return path


def _check_pair(authority: str, certificate: str, key: str) -> None:
    """UsageError if these files do not match their names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        at = authority
        context.load_verify_locations(authority)
        at = f"{certificate} with {key}"
        context.load_cert_chain(certificate, key, "")
    except OSError as error:  # of ssl, too
        reason = error.strerror
        if isinstance(error, ssl.SSLError):
            reason = _WRONG.get(
                error.reason or "", "not in PEM format, or protected by a passphrase"
            )
        raise UsageError(
            f"{at} cannot be used: {reason}",
            hint="copy these files again from the machine that ran ccm engine init",
        ) from error


def _check_private(path: Path) -> None:
    if path.stat().st_mode & 0o077:
        raise UsageError(f"{path} is readable by others", hint=f"chmod 600 {path}")
