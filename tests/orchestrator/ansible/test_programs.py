"""Modules that become a command of a program: each with a test, marked, and valid."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

PROGRAMS = {
    "ufw": ("ufw: {rule: allow, port: 22, proto: tcp}",
            "ufw allow from any to any port 22 proto tcp"),
    "ufw policy": ("ufw: {policy: deny, direction: incoming}",
                   'DEFAULT_INPUT_POLICY=.\\?DROP.\\?'),
    "ufw state": ("ufw: {state: enabled}", "ufw --force enable"),
    "firewalld": ("firewalld: {service: http, permanent: true, immediate: true, state: enabled}",
                  "firewall-cmd --permanent --add-service=http && firewall-cmd --add-service=http"),
    "iptables": ("iptables: {chain: INPUT, protocol: tcp, destination_port: 22, jump: ACCEPT}",
                 "iptables -w -A INPUT -p tcp --dport 22 -j ACCEPT"),
    "selinux": ("selinux: {state: permissive, policy: targeted}", "setenforce 0"),
    "sefcontext": ("sefcontext: {target: '/srv(/.*)?', setype: httpd_sys_content_t}",
                   "semanage fcontext -a -t httpd_sys_content_t"),
    "seport": ("seport: {ports: 8080, proto: tcp, setype: http_port_t}",
               "semanage port -a -t http_port_t -p tcp 8080"),
    "mysql_db": ("mysql_db: {name: app, encoding: utf8mb4}",
                 "CREATE DATABASE \\`app\\` CHARACTER SET utf8mb4"),
    "mysql_user": ("mysql_user: {name: app, password: '{{ secret }}', priv: 'app.*:ALL,GRANT'}",
                   "GRANT ALL ON \\`app\\`.* TO 'app'@'localhost' WITH GRANT OPTION;"),
    "postgresql_db": ("postgresql_db: {name: app, owner: app}", "createdb -O app app"),
    "postgresql_user": ("postgresql_user: {name: app, password: '{{ secret }}'}",
                        "CREATE ROLE \"app\" LOGIN PASSWORD :'secret';"),
    "postgresql_ext": ("postgresql_ext: {name: hstore, db: app}", "CREATE EXTENSION"),
    "rabbitmq_user": ("rabbitmq_user: {user: a, password: '{{ secret }}', vhost: /, "
                      "configure_priv: .*, read_priv: .*, write_priv: .*}",
                      "rabbitmqctl add_user a"),
    "rabbitmq_vhost": ("rabbitmq_vhost: {name: /app}", "rabbitmqctl add_vhost /app"),
    "rabbitmq_plugin": ("rabbitmq_plugin: {names: 'a,b'}", "rabbitmq-plugins enable b"),
    "gem": ("gem: {name: bundler, user_install: false}",
            "gem install --no-document --no-user-install bundler"),
    "snap": ("snap: {name: core, classic: true}", "snap install --classic core"),
    "composer": ("composer: {command: install, working_dir: /srv}", "composer install"),
    "git_config": ("git_config: {name: user.name, value: A B, scope: system}",
                   "git config --system user.name"),
    "make": ("make: {chdir: /src, target: install}", "make -C /src install"),
    "assemble": ("assemble: {src: /etc/a.d, dest: /etc/a}", "cat /etc/a.d/* > /etc/a"),
    "htpasswd": ("htpasswd: {path: /etc/p, name: a, password: '{{ secret }}'}",
                 "htpasswd -iB /etc/p a"),
    "capabilities": ("capabilities: {path: /bin/x, capability: cap_net_raw+ep}",
                     "setcap cap_net_raw+ep /bin/x"),
    "acl": ("acl: {path: /a, entity: b, etype: user, permissions: rx}", "setfacl -m user:b:rx /a"),
    "filesystem": ("filesystem: {fstype: ext4, dev: /dev/sdb}", "mkfs -t ext4 /dev/sdb"),
    "supervisorctl": ("supervisorctl: {name: a, state: started}", "supervisorctl start a"),
    "key": ("openssl_privatekey: {path: /k, size: 2048}", "openssl genrsa -out /k 2048"),
    "csr": ("openssl_csr: {path: /r, privatekey_path: /k, common_name: a}", "-subj /CN=a"),
    "certificate": ("x509_certificate: {path: /c, privatekey_path: /k, csr_path: /r, "
                    "provider: selfsigned}", "-signkey /k -days 3650 -out /c"),
    "dhparam": ("openssl_dhparam: {path: /d, size: 2048}", "openssl dhparam -out /d 2048"),
    "network": ("docker_network: {name: n}", "docker network create n"),
    "container": ("docker_container: {name: c, image: i, ports: ['80:80'], env: {A: b}}",
                  "docker run -d --name c -p 80:80 -e A=b i"),
    "compose": ("docker_compose_v2: {project_src: /srv/app}",
                "docker compose --project-directory /srv/app up -d"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_it(tmp_path: Path, name: str) -> None:
    """The command is that of the module, says that a program does it, and is valid."""
    task, expected = PROGRAMS[name]
    result, text = convert_tasks(tmp_path, f"- {task}\n", defaults__main="secret: x\n")
    assert result.records[0].outcome == "check"
    assert "; ccm has no resource type for this" in text
    assert expected in text.replace("\\\\", "\\").replace('\\"', '"')
    check_valid(tmp_path / "site")


def test_passwords_are_no_arguments(tmp_path: Path) -> None:
    """A password reaches a program by its environment, and the resource is masked."""
    _, text = convert_tasks(
        tmp_path,
        "- mysql_user: {name: a, password: '{{ p }}', login_password: '{{ p }}'}\n",
        defaults__main="p: s3cret\n",
    )
    assert 'environment: ["MYSQL_PWD={{ Data.p }}", "CCM_PASSWORD={{ Data.p }}"]' in text
    assert "sensitive: true" in text


def test_elements_that_omit_parts_of_a_command(tmp_path: Path) -> None:
    """Options that some elements omit are expressions that are empty for those."""
    _, text = convert_tasks(
        tmp_path,
        """
        - ufw:
            rule: "{{ item.rule | default('allow') }}"
            port: "{{ item.port | default(omit) }}"
            proto: "{{ item.proto | default(omit) }}"
            from_ip: "{{ item.from | default(omit) }}"
          loop: "{{ rules }}"
        """,
        defaults__main="rules: [{port: 22, proto: tcp}, {from: 192.0.2.1}]\n",
    )
    assert (
        "{{ 'port ' ~ (item.port | string | quote) if item.port | default('', true) else '' }}"
        in text
    )
    check_valid(tmp_path / "site")


def test_limits_are_lines(tmp_path: Path) -> None:
    """``pam_limits`` is an edit of the file."""
    _, text = convert_tasks(
        tmp_path,
        "- pam_limits: {domain: '*', limit_type: soft, limit_item: nofile, value: 9}\n",
    )
    assert '"*\\tsoft\\tnofile\\t9"' in text
    check_valid(tmp_path / "site")
