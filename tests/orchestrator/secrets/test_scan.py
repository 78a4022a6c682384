"""Secrets in clear are found by form and by entropy."""

import time
from pathlib import Path

import pytest

from orchestrator.secrets.scan import findings_in, may_hold_secrets, text_of

RANDOM = "q7Vt0Zk3XbW9mJr5LpYc2NdHs8Ue"  # ccm: allow-secret
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA"  # ccm: allow-secret
BEGIN = "-----BEGIN " + "PRIVATE KEY-----"
END = "-----END " + "PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("-----BEGIN OPENSSH PRIVATE " + "KEY-----", "a private key"),
        ("AGE-SECRET-" + "KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQ", "an age identity"),
        ("id = AKIA" + "ABCDEFGHIJKLMNOP", "an AWS access key"),
        ("t: ghp" + "_" + "a1B2" * 9, "a GitHub token"),
        ("url: https://me:" + "hunter2@example.net/x", "credentials in a URL"),
        ('password: "hunter2-hunter2"', "a password, token or key"),
        ("DB_PASSWORD=hunter2Hunter2", "a password, token or key"),
        ("api_key: 'abcdefgh1'", "a password, token or key"),
        (f"blob: {RANDOM}", "a random string"),
    ],
)
def test_what_is_found(line: str, what: str) -> None:
    """One finding with the line, and nothing of the secret."""
    (found,) = findings_in("f.yml", f"a: 1\n{line}\n")
    assert (found.line, found.what.startswith(what)) == (2, True)
    assert "hunter2" not in str(found)


@pytest.mark.parametrize(
    "line",
    [
        "password: \"{{ secret('v.yml#a') }}\"",
        "password_file: ~/.vault_password",
        "password: !vault |",
        "token: ENC[AES256_GCM,data:abcdefABCDEF0123456789==,type:str]",
        "password: changeme",
        'password: ""',
        "secret = read_secret(name)",
        "password: ${DB_PASSWORD}",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Zq7Vt0Zk3XbW9mJr5LpYc2NdHs8UeQ7Vt0Zk3Xb me",
        "recipients: [age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq]",
        "integrity: sha512-q7Vt0Zk3XbW9mJr5LpYc2NdHs8Ueq7Vt0Zk3XbW9mJr5LpYc2NdHs8Ue==",
        "path: /usr/share/doc/Package/Some/LongName123/AnotherName456",
        "uuid: 123e4567-e89b-12d3-a456-426614174000",
        f"blob: {RANDOM}  # ccm: allow-secret",
        "def test_a_token_that_is_too_old_is_refused_by_the_server() -> None:",
    ],
)
def test_what_is_not(line: str) -> None:
    """References, encrypted values, public keys, digests, names, and what a comment allows."""
    assert list(findings_in("f.yml", line + "\n")) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "def login(password: Password, credentials: Credentials) -> None:"),
        ("a.py", 'SSH_PASSWORD = "CCM_SSH_PASSWORD"'),
        ("a.py", 'token = f"{PASSWORD}-1"'),
        ("a.py", 'token = "ccm-%s" % os.urandom(12).hex()'),
        ("a.py", f'_BEGIN = "{BEGIN}"'),
        ("a.go", "var TheLongNameOfAThing2InAProgram = Another1Long2Name3Of4AThing"),
        ("site.yml", 'user: {update_password: "on_create"}'),
        ("site.yml", "url: https://user:password@repo.corp.net/x"),
        ("site.yml", f"- $6${RANDOM[:16]}${RANDOM * 3}"),
        ("site.yml", f"SHA256:{RANDOM}abcdefgh"),
        ("known_hosts", f"|1|{RANDOM}=|{RANDOM}= ssh-ed25519 AAAA{RANDOM}"),
        ("go.sum", f"github.com/a/b v1.0.0 h1:{RANDOM}="),
        ("tests/test_a.py", "password = 'hunter2-hunter2'"),
        ("tests/test_a.py", f"DIGEST = '{RANDOM}'"),
        ("docs/a.md", "$ curl https://me:hunter2@repo.corp.net"),
        ("examples/site.yaml", "password: s3cr3t-value"),
        ("env.example", "DB_PASSWORD=hunter2Hunter2"),
        ("key.pem", f"{BEGIN} # ccm: allow-secret\n{BODY}\n{END}"),
        ("tests/test_a.py", f'KEY = "{BEGIN}\\nno real one"'),
    ],
)
def test_what_a_file_may_have(path: str, line: str) -> None:
    """Names of programs, and made-up passwords in tests, documents and examples."""
    assert list(findings_in(path, line + "\n")) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", 'password = "hunter2-hunter2"'),
        ("tests/site.yaml", "password: " + "xK9mP2vL5nQ8rT"),
        ("docs/a.md", "curl https://me:" + "xK9mP2vL5nQ8rT@repo.corp.net"),
        ("docs/a.md", "id = AKIA" + "ABCDEFGHIJKLMNOP"),
        ("tests/key.pem", f"{BEGIN}\n{BODY}\n{BODY}\n{END}"),
        ("a.py", f'KEY = """{BEGIN}\n{BODY}'),
        ("/home/tests/site.yaml", "password: 'hunter2-hunter2'"),
        ("roles/tested/a.yaml", "password: 'hunter2-hunter2'"),
    ],
)
def test_what_no_file_may_have(path: str, line: str) -> None:
    """What looks random, known forms, and private keys with a body."""
    assert [one.line for one in findings_in(path, line + "\nb: 1\n")] == [1]


def test_encrypted_blocks() -> None:
    """Nothing inside of a vault, an age block or a certificate is looked at."""
    lines = "\n".join(f"    {RANDOM}" for _ in range(3))
    for begin, end in (("AGE ENCRYPTED FILE",) * 2, ("CERTIFICATE",) * 2):
        text = f"a: |\n    -----BEGIN {begin}-----\n{lines}\n    -----END {end}-----\nb: 1\n"
        assert list(findings_in("f.yml", text)) == []


def test_files_that_are_not_read(tmp_path: Path) -> None:
    """Binary files and links are left out."""
    (tmp_path / "binary").write_bytes(b"\0password: 'hunter2-hunter2'")
    (tmp_path / "link").symlink_to("binary")
    paths = [str(tmp_path / "binary"), str(tmp_path / "link"), "/nonexistent"]
    assert list(map(text_of, paths)) == [None, None, None]


@pytest.mark.parametrize(
    "part",
    ["pass" + "-" * 400_000, "\n", "-----BEGIN AGE ENCRYPTED FILE-----\n", "secret",
     "-----BEGIN PGP MESSAGE-----\n", "-----BEGIN PRIVATE KEY-----\n", "ENC[AES256_GCM,", "sk-",
     "eyJ-"],
)  # fmt: skip
def test_a_file_takes_linear_time(part: str) -> None:
    """Whoever writes a file of the repository cannot keep a commit waiting for hours."""
    text = part * (400_000 // len(part) + 1)
    begun = time.process_time()
    list(findings_in("site.yaml", text))
    may_hold_secrets(text)
    assert time.process_time() - begun < 15
