"""The equivalents of the names in Ansible's templates (controller)."""

EXPRESSIONS = {
    "ansible_host": "Host.address",
    "group_names": "Host.groups",
    "groups": "Groups",
    "inventory_hostname": "Host.name",
    "inventory_hostname_short": "Host.name.split('.')[0]",
}
"""Names for which ccm has an equivalent expression."""
_NAMES = {
    **EXPRESSIONS,
    "ansible_facts": "Facts",
    "ansible_managed": "managed() in a template file",
    "ansible_play_hosts": "Groups.all",
    "env": "Environ.NAME",
    "hostvars": "Hosts",
    "play_hosts": "Groups.all",
    "vars": "Data or Host.vars",
}
_FUNCTIONS = {"env": "Environ.NAME", "file": "file(PATH)", "template": "template(PATH)"}
_FACT = "ansible_"


def hint_for_name(name: str) -> str:
    """The equivalent of a name in Ansible's templates, or ""."""
    found = _NAMES.get(name)
    if found is not None:
        return f"write {found}"
    return "write a path under Facts; ccm facts lists all paths" if name.startswith(_FACT) else ""


def hint_for_lookup(plugin: str) -> str:
    """The equivalent of an Ansible lookup plugin, or ""."""
    found = _FUNCTIONS.get(plugin)
    return f"write {found}" if found is not None else ""
