"""Hosts, groups, variables and selection; independent of SSH (controller only).

    inv = load(["hosts.yaml"])                   # InputError with every problem and its place
    inv.select("web:&prod:!web3")                # list of Host, in the inventory's order
    inv.explain("web1")                          # where each value comes from

``inventory.yaml_document`` reads YAML with positions and serves the manifest too.
"""

from inventory.model import Group, Host, Inventory
from inventory.sources import load, this_host

__all__ = ["Group", "Host", "Inventory", "load", "this_host"]
