"""The pages of resource types: their generated parts, their lists, a new one (controller).

Types are found by their directories. A new type's page is written from its schema, with the
sections that every such page has; what a person has to write there stands as ``TO_WRITE``.
"""

from __future__ import annotations

import json
from pathlib import Path

from docs import examples
from schemas import tables

DIRECTORY = Path(__file__).resolve().parents[1] / "remote_runtime" / "resources"
TO_WRITE = "(to be written)"

_PAGE = """\
# {heading}

[ccm documentation](../../README.md) / [Reference](../../README.md#reference)

The `{name}` resource manages {title}.

> **Warning:** {to_write}.

## Example

### Manifest

```yaml
{example}
```

### Command line

<!-- command-line:begin -->
<!-- command-line:end -->

### API request

<!-- api-request:begin -->
<!-- api-request:end -->

After the push: {to_write}.

## Ensure values

<!-- ensure:begin -->
<!-- ensure:end -->

## Properties

<!-- properties:begin -->
<!-- properties:end -->

## Idempotency

{rows}

## Noop

{noop}

## Provider notes
{to_write}.
"""


def names() -> list[str]:
    """The types that the runtime has."""
    return sorted(path.parent.name for path in DIRECTORY.glob("*/schema.json"))


def schema_of(name: str) -> tables.Schema:
    """The schema of one type's properties."""
    found: tables.Schema = json.loads(
        (DIRECTORY / name / "schema.json").read_text(encoding="utf-8")
    )
    return found


def _title(name: str) -> str:
    return str(schema_of(name)["x-ccm-title"])


def links(to: str) -> str:
    """The table of all types; ``to`` is the way to the directory of their pages."""
    rows = [
        [f"[`{name}`]({to}{name}.md)", tables.fragment(_title(name).partition(":")[0])]
        for name in names()
    ]
    return tables.table(["Type", "Manages"], rows)


def new(name: str) -> str:
    """The page of a type that has none yet, its generated parts empty."""
    schema = schema_of(name)
    title = tables.fragment(_title(name))
    rows = [[f"`ensure: {value}`", TO_WRITE, TO_WRITE] for value in schema["x-ccm-ensure"]]
    return _PAGE.format(
        heading=name.capitalize(),
        name=name,
        title=title[:1].lower() + title[1:],
        example=schema["x-ccm-example"].rstrip(),
        rows=tables.table(["Desired", "Now", "Action"], rows),
        noop=tables.table(["Situation", "Message"], [[TO_WRITE, "`Would have ...`"]]),
        to_write=TO_WRITE,
    )


def parts(name: str, page: str) -> dict[str, str]:
    """The generated parts of a type's page."""
    schema = schema_of(name)
    return {
        "command-line": examples.command_lines(page),
        "api-request": examples.api_request(name, page),
        "ensure": tables.meanings("Value", schema["x-ccm-ensure"]),
        "properties": tables.properties(schema, schema["x-ccm-name"]["description"]),
    }
