"""Finds out why no scheduler answers at an address, with its own connection (both sides).

Dask retries for a while and then reports a timeout, regardless of the reason.
"""

import os
import socket
import ssl
from typing import Any, NamedTuple

_PATIENCE = 5.0  # seconds
_EXPIRED, _NOT_YET = 10, 9  # X509_V_ERR_CERT_HAS_EXPIRED and ..._NOT_YET_VALID of OpenSSL
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
_GUIDE = "see docs/howto/many-machines.md"


class Fault(NamedTuple):
    """The problem, and how to fix it."""

    what: str
    hint: str


def probe(address: str, security: Any, name_directory: str) -> Fault | None:
    """Return the problem that prevents a connection to a scheduler, with its address in Dask's
    form; None without a problem.

    ``security`` is Dask's security object, None without TLS; ``name_directory`` is the option for
    the directory of certificates.
    """
    protocol = "dask scheduler --protocol tls" if security is not None else "dask scheduler"
    try:
        if security is not None:
            return _of_tls(address, security)
        return _of_plain(address, name_directory)
    except _MuteError:
        return Fault("it closes the connection or does not respond", "is this a Dask scheduler?")
    except OSError as error:
        return Fault(
            error.strerror or f"no response within {_PATIENCE:.0f} s",
            f"start one on that host with '{protocol}', or use another address",
        )


class _MuteError(Exception):
    """A server exists at the address, but does not respond."""


def _greet(address: str, context: ssl.SSLContext) -> None:
    """Perform the handshake and read the response; OSError, including those of ssl, or
    _MuteError.
    """
    host, _, port = address.partition("://")[2].rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as line:
        try:
            with context.wrap_socket(line) as wrapped:
                wrapped.recv(1)  # the verdict about our certificate comes after the handshake
        except (TimeoutError, ConnectionError) as error:
            raise _MuteError from error


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    return context


def _of_tls(address: str, security: Any) -> Fault | None:
    """The problem of a connection with TLS. OSError if no server exists at the address."""
    context = _context()
    context.load_verify_locations(security.tls_ca_file)
    context.load_cert_chain(security.tls_client_cert, security.tls_client_key, "")
    own = security.tls_client_cert
    again = f"create new certificates with ccm engine init for all machines, {_GUIDE}"
    try:
        _greet(address, context)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in (_EXPIRED, _NOT_YET):
            when = "has expired" if error.verify_code == _EXPIRED else "is not valid yet"
            return Fault(f"its certificate {when}", f"check the clocks, or {again}")
        return Fault(
            f"its certificate is not signed by the CA {security.tls_ca_file}",
            "all machines need certificates from one CA: copy those of the scheduler's CA to "
            f"{os.path.dirname(own)}, {_GUIDE}",
        )
    except ssl.SSLError as error:
        reason = error.reason or ""
        if "_ALERT_" in reason:
            said = reason.partition("_ALERT_")[2].replace("_", " ").lower()
            return Fault(
                f"it rejects the certificate {own}: {said}",
                again
                if "expired" in said
                else "set the scheduler's --tls-ca-file to the CA that signed this "
                f"certificate, {_GUIDE}",
            )
        if reason in _NO_TLS:
            return Fault(
                "it does not use TLS",
                f"start it with 'dask scheduler --protocol tls' and certificates, {_GUIDE}",
            )
    return None


def _of_plain(address: str, name_directory: str) -> Fault | None:
    """The problem of a connection without TLS. OSError if no server exists at the address."""
    context = _context()
    context.verify_mode = ssl.CERT_NONE
    try:
        _greet(address, context)
    except ssl.SSLError as error:
        if "_ALERT_" not in (error.reason or ""):
            return None
    return Fault("it uses TLS", f"set the directory of the certificates with {name_directory}")
