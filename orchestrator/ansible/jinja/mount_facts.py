"""The lookup that answers ``ansible_mounts`` (controller)."""

_SCRIPT = r"""
import json, os, re
links = "/dev/disk/by-uuid"
names = os.listdir(links) if os.path.isdir(links) else []
ids = {os.path.realpath(os.path.join(links, one)): one for one in names}
bound = {one.split()[4] for one in open("/proc/self/mountinfo") if one.split()[3] != "/"}
found = {}
for line in open("/proc/mounts"):
    escaped = line.split()
    words = [re.sub(r"\\\d{3}", lambda one: chr(int(one.group()[1:], 8)), word) for word in escaped]
    device, mount, kind, options = words[:4]
    if device[0] not in "/\\" and ":/" not in device or kind == "none":
        continue
    entry = dict(mount=mount, device=device, fstype=kind, dump=int(words[4]), passno=int(words[5]))
    entry["options"] = options + ",bind" * (escaped[1] in bound)
    entry["uuid"] = ids.get(os.path.realpath(device), "N/A")
    found[mount] = entry
    try:
        size = os.statvfs(mount)
    except OSError:
        continue
    blocks, free, inodes, unused = size.f_blocks, size.f_bavail, size.f_files, size.f_favail
    entry.update(size_total=size.f_frsize * blocks, size_available=size.f_frsize * free)
    entry.update(block_size=size.f_bsize, block_total=blocks, block_available=free)
    entry.update(block_used=blocks - free, inode_total=inodes, inode_available=unused)
    entry["inode_used"] = inodes - unused
print(json.dumps(list(found.values())))
"""

MOUNTS = f"python3 -c '{_SCRIPT.strip()}'"
"""The file systems on devices and on other hosts, with Ansible's names, as JSON."""
