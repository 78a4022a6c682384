"""Variables whose definitions read the element of a loop or a variable of one task."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_a_variable_reads_the_element_of_each_loop(tmp_path: Path) -> None:
    """The definition takes the place of the name, directly and through other variables."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "{{ deep }}/d", state: directory, owner: root, group: root, mode: "0755"}
          loop: [x, y]
          loop_control: {loop_var: thing}
        - set_fact: {base: /one}
        - command: echo {{ both }} {{ item.n }}
          loop: "{{ many }}"
        - command: echo {{ base }}
        """,
        defaults__main="""
        base: /zero
        opt: "/opt/{{ thing }}"
        deep: "{{ opt }}/x"
        both: "{{ base }}/{{ item.n }}"
        many: [{n: a}, {n: b}, {n: c}]
        """,
    )
    assert "- /opt/x/x/d:" in text
    assert "- /opt/y/x/d:" in text
    assert "command: \"echo {{ Data.base ~ '/' ~ item.n }} {{ item.n }}\"" in text
    assert "Data.thing" not in text
    assert "Data.item" not in text
    assert 'command: "echo {{ Data.base }}"' in text
    check_valid(tmp_path / "site")


def test_a_variable_reads_the_element_of_applied_tasks(tmp_path: Path) -> None:
    """The manifest of each element renders it, and inherits only what something sets."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {script: certbot}
          when: method == 'package'
        - include_tasks: one.yml
          loop: "{{ certs }}"
          loop_control: {loop_var: cert}
        """,
        tasks__one="- command: '{{ create }}'\n  when: never_set is not defined\n",
        defaults__main="""
        method: package
        certs: [{domains: [a.example]}]
        create: "{{ script }} --name {{ cert_name }} {{ extra | default('') }}"
        cert_name: "{{ cert.name | default(cert.domains | first) }}"
        """,
    )
    child = next((tmp_path / "site" / "roles").glob("*one.yaml")).read_text(encoding="utf-8")
    assert "--name {{ Data.cert.name | default(Data.cert.domains | first) }}" in child
    assert 'script: "{{ Data.script_set }}"' in text
    assert "extra" not in text.partition("apply:")[2]
    assert "never_set" not in text.partition("apply:")[2]
    check_valid(tmp_path / "site")


def test_a_template_reads_the_element_through_a_variable(tmp_path: Path) -> None:
    """The call gives the template the element, though its text has only the variable."""
    _, text = convert_tasks(
        tmp_path,
        """
        - template: {src: t.j2, dest: "/etc/{{ thing }}", owner: root, group: root, mode: "0644"}
          loop: "{{ many }}"
          loop_control: {loop_var: thing}
        """,
        defaults__main='opt: "/opt/{{ thing }}"\nmany: [a, b]\n',
        templates__t_DOT_j2="path={{ opt }}\n",
    )
    assert "thing=item)" in text
    written = next((tmp_path / "site").rglob("t.j2")).read_text(encoding="utf-8")
    assert written == "path={{ '/opt/' ~ thing }}\n"
    check_valid(tmp_path / "site")


def test_a_variable_of_the_task_takes_part_in_a_definition(tmp_path: Path) -> None:
    """A variable of the task wins over a default with its name, in definitions that read it too."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: echo {{ path }}
          vars: {word: task}
        - command: echo {{ path }} again
        """,
        defaults__main='word: default\npath: "/srv/{{ word }}"\n',
    )
    assert "command: echo /srv/task" in text
    assert 'command: "echo {{ Data.path }} again"' in text
    check_valid(tmp_path / "site")


def test_several_definitions_that_read_an_element_are_refused(tmp_path: Path) -> None:
    """Which one counts depends on the host, so that none can take the place of the name."""
    result, _ = convert_tasks(
        tmp_path,
        "- command: echo {{ path }}\n  loop: '{{ many }}'\n",
        defaults__main='path: "/srv/{{ item }}"\nmany: [a, b]\n',
        vars__main='path: "/opt/{{ item }}"\n',
    )
    assert result.records[0].outcome == "not converted"
    assert "path has several values" in result.records[0].reasons[0]


def test_applied_tasks_get_the_variables_and_the_index_of_their_loop(tmp_path: Path) -> None:
    """``vars`` and ``index_var`` of an include in a loop are data of each manifest."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_tasks: one.yml
          loop: "{{ many }}"
          loop_control: {index_var: number}
          vars: {sub: "{{ item.n }}/s", thing: "{{ sub }}-t"}
        """,
        tasks__one='- command: "echo {{ sub }} {{ opt }} {{ number }} {{ item.n }}"\n',
        defaults__main='opt: "/opt/{{ thing }}"\nmany: [{n: a}, {n: b}]\n',
    )
    child = next((tmp_path / "site" / "roles").glob("*one.yaml")).read_text(encoding="utf-8")
    assert "echo {{ Data.sub }} {{ '/opt/' ~ Data.thing }} {{ Data.number }}" in child
    assert 'sub: "{{ item.n }}/s"' in text
    assert 'thing: "{{ item.n }}/s-t"' in text
    assert 'number: "{{ index }}"' in text
    check_valid(tmp_path / "site")
