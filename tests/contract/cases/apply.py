"""Child manifests; a verify looks at their resources, each by itself."""

from tests.contract.cases.file import OWNED
from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import item

STATELESS = UNSEEN = True


def child(world: World) -> Scenario:
    """A child with one file."""
    properties = {"content": world.blob("hello\n"), "mode": "0644", **OWNED}
    file = item("file", world.path("hello"), 1, properties=properties, manifest="web/site.yaml")
    return Scenario(
        "web/site.yaml",
        {"data": {"word": SECRET}},
        fields={"applies": "web/site.yaml", "children": (file,)},
    )


SCENARIOS = (child,)
