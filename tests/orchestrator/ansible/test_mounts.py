"""``ansible_mounts``."""

import json
import shlex
import subprocess
from pathlib import Path

from orchestrator.ansible.jinja.mount_facts import MOUNTS
from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_mounts(tmp_path: Path) -> None:
    """``ansible_mounts`` is a lookup with the same names, also in a loop."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {dest: /etc/a, content: "x", owner: root, group: root, mode: "0644"}
          when: "'/data' in ansible_facts.mounts | map(attribute='mount') | list"
        - lineinfile: {path: /etc/b, line: "{{ item.mount }} {{ item.size_total }}"}
          loop: "{{ ansible_mounts }}"
          when: item.fstype == 'ext4'
        """,
    )
    assert [one.outcome for one in result.records] == ["converted"] * 2
    assert "Asked.mounts.stdout.strip() | from_json | map(attribute='mount')" in text
    check_valid(tmp_path / "site")


def test_the_lookup_of_mounts() -> None:
    """The lookup answers with the mounts of devices, with their sizes."""
    done = subprocess.run(shlex.split(MOUNTS), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    mounted = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    of_devices = {mount for device, mount, *_ in mounted if device.startswith("/")}
    assert {one["mount"] for one in found if ":/" not in one["device"]} == of_devices
    wanted = {"mount", "device", "fstype", "options", "uuid", "size_total", "size_available"}
    assert all(wanted <= set(one) and "/" in one["device"] for one in found)
