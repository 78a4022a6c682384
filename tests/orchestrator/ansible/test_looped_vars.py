"""``include_vars`` in a loop over file names."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

_SYSTEM_ROLE = """
- include_vars: "{{ __vars_file }}"
  loop:
    - "{{ ansible_facts['os_family'] }}.yml"
    - "{{ ansible_facts['distribution'] }}.yml"
    - "{{ ansible_facts['distribution'] }}_{{ ansible_facts['distribution_major_version'] }}.yml"
  vars:
    __vars_file: "{{ role_path }}/vars/{{ item }}"
  when: __vars_file is file
- package: {name: "{{ pkg }}"}
"""


def test_files_that_may_be_missing(tmp_path: Path) -> None:
    """Each file that the role has is an entry of the hierarchy, and later files win."""
    result, text = convert_tasks(
        tmp_path,
        _SYSTEM_ROLE,
        vars__RedHat="pkg: a\n",
        vars__CentOS_8="pkg: b\n",
        defaults__main="pkg: c\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 2
    major = "Facts.host.info.platformVersion.split('.')[0]"
    orders = [
        f"    - \"vars:{{{{ Facts.host.info.platform ~ '-' ~ {major} }}}}\"\n",
        '    - "vars:{{ Facts.host.info.platform }}"\n',
        '    - "vars:{{ Facts.host.info.platformFamily }}"\n',
    ]
    assert "".join(orders) in text
    assert '"vars:rhel": {pkg: a}' in text
    assert '"vars:centos-8": {pkg: b}' in text
    assert "assert:" not in text
    check_valid(tmp_path / "site")


def test_files_in_the_loop_itself(tmp_path: Path) -> None:
    """A file that must exist is refused where it is missing, and one with a plain name is data."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ one }}.yml"
          with_items: [base, "{{ ansible_os_family }}"]
          loop_control: {loop_var: one}
        - package: {name: "{{ pkg }}"}
        """,
        vars__base="pkg: a\n",
        vars__Debian="pkg: b\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 2
    assert '    - "vars:{{ Facts.host.info.platformFamily }}"\n    - "vars:base"\n' in text
    assert "that: Facts.host.info.platformFamily in ['debian']" in text
    check_valid(tmp_path / "site")


def test_a_test_of_another_file(tmp_path: Path) -> None:
    """Whether another file exists, on the controller, is not known."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ role_path }}/vars/{{ item }}"
          loop: [a.yml, b.yml]
          when: "'/etc/other' is file"
        """,
        vars__a="pkg: a\n",
        vars__b="pkg: b\n",
    )
    assert [one.outcome for one in result.records] == ["not converted"]
    assert "NOT CONVERTED: include_vars if another file exists" in text


@pytest.mark.parametrize("condition", ["item != 'b.yml'", "__file is search('b')"])
def test_a_condition_on_the_element(tmp_path: Path, condition: str) -> None:
    """It holds for some files only, so the task is not converted."""
    result, _ = convert_tasks(
        tmp_path,
        f"""
        - include_vars: "{{{{ item }}}}"
          loop: [a.yml, b.yml]
          vars: {{__file: "{{{{ item }}}}"}}
          when: {condition}
        """,
        vars__a="v: 1\n",
        vars__b="v: 2\n",
    )
    (record,) = result.records
    assert record.outcome == "not converted"
    assert record.reasons == ["include_vars in a loop with a condition on the element"]


def test_the_first_task_file_of_several(tmp_path: Path) -> None:
    """Facts choose the file, and the one with a plain name is for all other hosts."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_tasks:
            file: "{{ item }}"
          with_first_found:
            - "setup-{{ ansible_distribution | lower }}.yml"
            - setup-default.yml
        """,
        **{
            "tasks__setup-debian": "- package: {name: a}\n",
            "tasks__setup-default": "- package: {name: b}\n",
        },
    )
    assert {one.outcome for one in result.records} == {"converted"}
    control = (
        "{one}:\n            control:\n              if: Facts.host.info.platform {sign} 'debian'"
    )
    assert control.format(one="a", sign="==") in text
    assert control.format(one="b", sign="!=") in text
    check_valid(tmp_path / "site")


def test_a_template_named_like_its_destination(tmp_path: Path) -> None:
    """A path without its slash is one of the templates of the role."""
    result, text = convert_tasks(
        tmp_path,
        """
        - template:
            src: "{{ conf.lstrip('/') }}.j2"
            dest: "{{ conf }}"
            owner: root
            group: root
            mode: "0644"
        """,
        defaults__main="conf: /etc/app/app.conf\n",
        **{"templates__etc/app/app_DOT_conf_DOT_j2": "x\n"},
    )
    assert [one.outcome for one in result.records] == ["converted"]
    assert "template('role/templates/' ~ Data.conf.lstrip('/') ~ '.j2')" in text
    assert (tmp_path / "site/roles/role/templates/etc/app/app.conf.j2").is_file()
    check_valid(tmp_path / "site")


def test_a_first_file_that_depends_on_more_than_facts(tmp_path: Path) -> None:
    """The other files are converted, and the one that is left out is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ lookup('first_found', params) }}"
          vars:
            version: "{{ ansible_distribution_major_version | int - 1 }}"
            params:
              files:
                - "{{ ansible_distribution }}_{{ version }}.yml"
                - "{{ ansible_os_family }}.yml"
                - default.yml
              paths: ["{{ role_path }}/vars"]
        - package: {name: "{{ pkg }}"}
        """,
        vars__Debian="pkg: a\n",
        vars__default="pkg: b\n",
    )
    assert [one.outcome for one in result.records] == ["check", "converted"]
    assert "# CHECK: without the file ansible_distribution_version.yml, which" in text
    assert '"vars:debian": {pkg: a}' in text
    check_valid(tmp_path / "site")
