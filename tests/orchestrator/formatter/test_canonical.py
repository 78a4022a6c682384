"""The canonical form: indentation, spaces, order, comments, and the meaning that stays."""

import difflib
import textwrap
from pathlib import Path

import pytest

from inventory.document_nodes import Mapping, Node
from inventory.yaml_document import comments_before, parse_document, to_plain
from orchestrator.formatter.canonical import canonical
from remote_runtime.errors import InputError
from tests.docs.pages import PAGES, ROOT, blocks
from tests.orchestrator.formatter.messy_yaml import Writer

SEEDS = range(400)
REFUSED = "would change here"  # a text whose last line looks like a comment above the next key


def form(text: str) -> str:
    """The canonical form of an indented text."""
    return canonical(textwrap.dedent(text), "site.yaml")


def differences(text: str, expected: str) -> list[str]:
    """Where the form of a text, and the form of what is expected, differ from the latter."""
    wanted = textwrap.dedent(expected).splitlines(keepends=True)
    return [
        line
        for source in (text, expected)
        for line in difflib.unified_diff(wanted, form(source).splitlines(keepends=True))
    ]


def annotations(node: Node) -> list[tuple[str, list[str]]]:
    """The keys with the comments above them, in the order of their names."""
    found = []
    for key, value in node.pairs() if isinstance(node, Mapping) else ():
        found += [(key.text, comments_before(key)), *annotations(value)]
    for item in getattr(node, "nodes", ()):
        found += annotations(item)
    return sorted(found)


def check_meaning(before: str, after: str) -> None:
    """Same values and same comments above keys."""
    one, other = parse_document(before, "a", []), parse_document(after, "b", [])
    assert to_plain(one) == to_plain(other)
    assert annotations(one) == annotations(other)


def test_indentation_and_spaces() -> None:
    """Two columns for each level, lists below their key too, and one space."""
    found = differences(
        """\


        ccm :
            resources:
            -   package:
                - nginx:   {ensure :  present,update_cache: 1h ,}


            - file:
                -   /etc/motd:
                        content:  'Hello'
                        mode: "0644" # text

                        owner:    root
        """,
        """\
        ccm:
          resources:
            - package:
                - nginx: {ensure: present, update_cache: 1h}

            - file:
                - /etc/motd:
                    content: "Hello"
                    mode: "0644"  # text

                    owner: root
        """,
    )
    assert found == []


def test_order_of_properties() -> None:
    """First what names the resource, then the type's own as on its page, then what all types
    have. A blank line begins a new group, a comment moves with its key.
    """
    found = differences(
        """\
        ccm:
          defaults:
            file: {mode: "0644", owner: root}
          resources:
            - file:
                - "/srv/{{ item }}":
                    control: {if: Data.on}
                    # who may write
                    mode: "0644"
                    own_word: 1
                    content: |
                      text
                    ensure: present
                    foreach: Data.names

                    require: [package#a]
                    group: root
                    # owner: root
            - service:
                subscribe: ["file#/a"]
                name: app
        """,
        """\
        ccm:
          defaults:
            file: {owner: root, mode: "0644"}
          resources:
            - file:
                - "/srv/{{ item }}":
                    foreach: Data.names
                    ensure: present
                    content: |
                      text
                    # who may write
                    mode: "0644"
                    own_word: 1
                    control: {if: Data.on}

                    group: root
                    require: [package#a]
                    # owner: root
            - service:
                name: app
                subscribe: ["file#/a"]
        """,
    )
    assert found == []


def test_an_anchor_keeps_the_order() -> None:
    """An alias may not come before its anchor."""
    text = "- file:\n    - /a:\n        mode: &mode '0644'\n        content: *mode\n"
    assert differences(text, text.replace("'", '"')) == []


def test_texts_keep_their_lines() -> None:
    """Of block texts, quoted texts and brackets on several lines only the indentation changes."""
    found = differences(
        """\
        a:
            b: |2-  # why
               indented

              text  \n\

            c: >+
                   one
                     two

            d: "several
                 words
                 \\ end"
            e: [one,
                   [two,  {a: 1},
                ],   # inside
              three]
        """,
        """\
        a:
          b: |2-  # why
             indented

            text  \n\

          c: >+
            one
              two

          d: "several
            words
            \\ end"
          e: [one,
            [two,  {a: 1},
            ],   # inside
            three]
        """,
    )
    assert found == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'it''s'", '"it\'s"'),
        ("'say \"x\"'", "'say \"x\"'"),
        (r"'^a\d$'", r"'^a\d$'"),
        ('"yes"', '"yes"'),
        ("yes", "yes"),
        ("{ }", "{}"),
        ("[ a,b ]", "[a, b]"),
        ("!!str   12", "!!str 12"),
        ("*x", "*x"),
        ("{*x : 1}", "{*x : 1}"),
        ("{? a : 1}", "{? a : 1}"),
    ],
)
def test_values(before: str, after: str) -> None:
    """Quotes stay where they mean something; single ones become double where nothing is escaped."""
    assert differences(f"x: &x k\ny: {before}", f"x: &x k\ny: {after}\n") == []


def test_comments_stay_with_what_they_are_about() -> None:
    """A check of data stays above its key; one that was none does not become one."""
    found = differences(
        """\
        data:
            # @secret
            password:   x
                   # @secret is no check here
            port: 1
          # in between
            # of the port
        # at the end of the data

        #   verbatim
        ccm: {resources: []}
        # at the end
        """,
        """\
        data:
          # @secret
          password: x
           # @secret is no check here
          port: 1
          # in between
          # of the port
        # at the end of the data

        #   verbatim
        ccm: {resources: []}
        # at the end
        """,
    )
    assert found == []


def test_ends_of_lines_and_of_the_file() -> None:
    """Windows' line ends and a byte order mark go; a text at the end gets no line end by it."""
    assert differences("\ufeffa: 1\r\n\r\n\r\nb: 2", "a: 1\n\nb: 2\n") == []
    assert differences("a: |\n    x", "a: |-\n  x\n") == []
    assert differences("a: |+\n  x\n\n", "a: |+\n  x\n\n") == []
    assert canonical("", "f") == ""
    assert canonical("# only\n\n", "f") == "# only\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\na: 2", "duplicate key"),
        ("a: [", "invalid YAML"),
        ("a: 1\n---\nb: 2", "second document"),
        ('a: "x\x85 y"', "unusual line break"),
        ("l:\n  - |+\n      first\n\n      # no comment\n  - k: 1\n", REFUSED),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    """A file that ccm does not read, and one whose meaning would change."""
    with pytest.raises(InputError, match=why):
        canonical(text, "site.yaml")


def test_tags_of_other_readers_stay() -> None:
    """A value that is encrypted keeps its tag and its lines."""
    found = differences(
        "a:   !vault |\n      $ANSIBLE_VAULT;1.1;AES256\n      6162\nb: !age  x\n",
        "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162\nb: !age x\n",
    )
    assert found == []


def form_or_refusal(text: str) -> str | None:
    """The canonical form; None where a comment above a key would change."""
    try:
        return canonical(text, "f")
    except InputError as error:
        if REFUSED in str(error):
            return None
        raise


def test_any_writing_keeps_its_meaning() -> None:
    """Of random documents: same meaning, stable, no blanks at the ends of lines."""
    formatted = 0
    for seed in SEEDS:
        text = Writer(seed).text
        try:
            parse_document(text, "f")
        except InputError:
            continue
        found = form_or_refusal(text)
        if found is None:
            continue
        formatted += 1
        check_meaning(text, found)
        assert canonical(found, "f") == found, seed
    assert formatted > 0.7 * len(SEEDS)


def test_every_manifest_of_this_repository() -> None:
    """Examples, documentation and cases of tests: the same meaning, and stable."""
    files = [*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("tests/**/*.yaml")]
    texts = [path.read_text(encoding="utf-8") for path in files if _is_small(path)]
    texts += [block.text for page in PAGES for block in blocks(page, "yaml")]
    assert len(texts) > 100
    for text in texts:
        found = canonical(text, "f")
        check_meaning(text, found)
        assert canonical(found, "f") == found


def _is_small(path: Path) -> bool:
    """The tests of previews have files of their own campaigns; a share is enough here."""
    return path.stat().st_size < 20_000
