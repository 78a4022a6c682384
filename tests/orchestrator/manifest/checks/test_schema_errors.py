"""Messages for values that a schema refuses."""

from orchestrator.manifest.checks.schema_errors import SchemaValidator

CHOICE = {
    "properties": {"ensure": {"enum": ["present", "auto"]}, "path": {"type": "string"}},
    "if": {"properties": {"ensure": {"const": "auto"}}},
    "then": {"properties": {"path": False}},
}


def test_a_property_that_a_condition_forbids_is_named() -> None:
    """The message names the property and its path leads to it, as for every other rule."""
    (found,) = SchemaValidator(CHOICE)({"ensure": "auto", "path": "/bin/x"}, "editor")
    assert found.path == ("path",)
    assert found.message == "editor.path '/bin/x' is not allowed"


def test_a_property_that_no_condition_forbids_passes() -> None:
    """The rule holds under its condition alone."""
    assert SchemaValidator(CHOICE)({"ensure": "present", "path": "/bin/x"}, "editor") == []
