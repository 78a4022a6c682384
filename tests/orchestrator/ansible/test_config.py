"""ansible.cfg says where the passwords of ansible-vault are."""

from pathlib import Path

import pytest

from orchestrator.ansible.source.ansible_cfg import vault_keys
from remote_runtime.errors import CcmError
from tests.orchestrator.ansible.sites import check_valid, convert
from tests.texts import expect_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[defaults]\nvault_password_file = keys/pw\n", {"password_file": "../project/keys/pw"}),
        ("[defaults]\nvault_password_file = ~/.pw%x\n", {"password_file": "~/.pw%x"}),
        (
            "[defaults]\nvault_identity_list = prod@/etc/pw, dev@pw, ask@prompt, @own\n",
            {"ids": {"prod": "/etc/pw", "dev": "../project/pw", "default": "../project/own"}},
        ),
        ("[defaults]\nroles_path = roles\n", {}),
        ("[ssh_connection]\npipelining = true\n", {}),
    ],
)
def test_vault_passwords(text: str, expected: object, tmp_path: Path) -> None:
    """A path of the project is written relative to the site, others as they are."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project/ansible.cfg").write_text(text)
    assert vault_keys(tmp_path / "project", tmp_path / "site") == expected


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    """The error names the file."""
    (tmp_path / "ansible.cfg").write_text("vault_password_file = x\n")
    with pytest.raises(CcmError) as refused:
        vault_keys(tmp_path, tmp_path / "site")
    expect_text(refused.value)


def test_a_site_with_vaulted_values_knows_their_password(tmp_path: Path) -> None:
    """The password itself stays where it is."""
    _, site = convert(
        tmp_path,
        {
            "ansible.cfg": "[defaults]\nvault_password_file = pw\n",
            "pw": "of the vault\n",
            "site.yml": "- hosts: all\n  tasks: [{command: 'true'}]\n",
            "hosts": "[web]\nweb1\n",
        },
        "site.yml",
    )
    text = (site / "ccm.yaml").read_text()
    assert text.endswith('secrets:\n  vault: {password_file: "../project/pw"}\n')
    assert not (site / "pw").exists()
    check_valid(site)
