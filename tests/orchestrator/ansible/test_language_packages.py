"""``pip`` and ``npm``: packages in environments and directories."""

import time
from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_packages_of_an_environment(tmp_path: Path) -> None:
    """A virtual environment, its owner, versions and options are properties of the package."""
    result, text = convert_tasks(
        tmp_path,
        """
        - apt: {name: requests}
        - pip:
            name: ["requests==2.31", flask]
            virtualenv: /opt/v
            virtualenv_command: python3.11 -m venv
            extra_args: --no-deps
          become_user: app
        - pip: {name: "{{ names }}", virtualenv: "{{ place }}", state: latest}
        - pip: {requirements: /opt/a/requirements.txt, virtualenv: /opt/v}
        """,
        defaults__main="names: [a, b]\nplace: /opt/w\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "- requests-in-opt-v:\n            provider: pip\n" in text
    assert 'ensure: "2.31"\n            owner: app\n            package: requests\n' in text
    assert 'python: python3.11\n            options: ["--no-deps"]\n' in text
    assert "foreach: Data.names\n            provider: pip\n" in text
    assert "requirements: /opt/a/requirements.txt" in text
    check_valid(tmp_path / "site")


def test_packages_of_a_directory_and_of_the_host(tmp_path: Path) -> None:
    """``npm`` with a path, with ``ci``, without a name, and for the whole host."""
    result, text = convert_tasks(
        tmp_path,
        """
        - npm: {name: express, path: /srv/x, version: "4.1", production: true}
        - npm: {path: /srv/y, ci: true}
        - npm: {name: pm2, global: true, registry: "https://r.example"}
        - npm: {path: /srv/x}
          become_user: app
        """,
    )
    outcomes = ["converted", "converted", "converted", "check"]
    assert [one.outcome for one in result.records] == outcomes
    assert "path: /srv/x\n            production: true\n" in text
    assert "path: /srv/y\n            ci: true\n" in text
    assert "global: true\n            index_url: https://r.example\n" in text
    assert "command: npm install\n            cwd: /srv/x\n" in text
    assert "user: app" in text
    check_valid(tmp_path / "site")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("name: 'a[b]', virtualenv: /x", "the package a[b] with extras"),
        ("name: 'a>1', virtualenv: /x", "the package a>1"),
        ("requirements: r.txt, virtualenv: /x", "requirements whose path"),
        ("name: a, virtualenv: /x, extra_args: '{{ more }}'", "extra_args in a variable"),
    ],
)
def test_packages_that_are_not_converted(tmp_path: Path, arguments: str, reason: str) -> None:
    """Extras, ranges of versions and paths of the original's directory have no counterpart."""
    result, text = convert_tasks(
        tmp_path, f"- pip: {{{arguments}}}\n", defaults__main="more: --pre\n"
    )
    assert result.records[0].outcome == "not converted"
    assert f"NOT CONVERTED: {reason}" in text


def test_a_list_of_names_and_maps(tmp_path: Path) -> None:
    """The elements are names, or maps with a name and a version, as roles for Node.js have them."""
    result, text = convert_tasks(
        tmp_path,
        """
        - npm:
            name: "{{ item.name | default(item) }}"
            version: "{{ item.version | default('latest') }}"
            global: true
          loop: "{{ packages }}"
        """,
        defaults__main='packages:\n  - {name: a, version: "0.12.0"}\n  - {name: b}\n  - c\n',
    )
    assert result.records[0].outcome == "converted"
    assert '"{{ item.name | default(item) }}":\n            foreach: Data.packages' in text
    check_valid(tmp_path / "site")


def test_many_packages(tmp_path: Path) -> None:
    """The time of the conversion grows with the number of packages, not with its square."""
    tasks = [
        f"- apt: {{name: [{', '.join(f'p{(task * 100 + one) % 3000}' for one in range(100))}]}}\n"
        + ("  when: a | default(false)\n" if task % 2 else "")
        for task in range(180)
    ]
    begun = time.process_time()
    convert_tasks(tmp_path, "".join(tasks))
    assert time.process_time() - begun < 20
