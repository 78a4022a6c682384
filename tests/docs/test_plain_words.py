"""The pages are written in short sentences and in the field's own words."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT

MEDIAN_WORDS = 18  # at most, of the sentences of one page
MAX_WORDS = 40  # in any sentence

PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

# Phrases of the old style, each with what to write instead.
PHRASES = {
    r"\bstands?\b(?! for\b)|\bstanding\b|\bstood\b": "is",
    r"\bheed(?:s|ed|ing)?\b": "follows, uses",
    r"\btold\b": "reported",
    r"\btells?\b(?! apart\b)": "reports, shows",
    r"(?<!is )(?<!are )\bkept\b": "stored, saved; a file or a setting is kept",
    r"\bheld\b(?! (?:package|back)\b)": "checked, bound, stopped",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bspoken of\b|\bspeaks? of\b": "mentioned",
    r"\bspelt\b": "spelled, literal",
    r"\bc(?:o|a)mes? to\b|\bcame to\b": "results in",
    r"\bcomes? out\b|\bcame out\b|\bcoming out\b": "results in",
    r"\b(?:is|are|was|were) asked(?: for)?\b": "is requested, is prompted for",
    r"\b(?:is|are|was|were) said\b|\bsaid nothing\b|\bsaid a word\b|\bnot say a word\b": "reports",
    r"\bno turn\b|\bhad their turn\b|\b(?:its|their|whose) turn\b": "not started, when it runs",
    r"\bwhom\b|\bwhoever\b|\bwhose it is\b": "the user who",
    r"\bwho (?:pushes|plans|looks|asks|requires|wants)\b": "the controller, the user",
    r"\b(?:are|is|were|was) well\b(?!-)|\bthat are well\b": "healthy",
    r"\bwith a brake\b": "limits",
    r"\bof (?:one|its|the site)'?s own\b": "custom",
    r"\bstrangers\b": "not trusted",
    r"\bshares nothing with\b": "uses separate code",
    r"\bas on \w+; others differ\b": "shown for web1; the others differ",
    r"\bstand together\b": "grouped",
    r"\bin its stead\b|\bin the place of\b": "instead of",
    r"\ball the same\b": "anyway",
    r"\bnone that\b|\bthat which\b": "one idea a sentence",
    r"\bwhat\b[^.,:;?]{1,40}\bdoes is\b": "the noun itself",
    r"\bis due for\b": "needs",
    r"\bdoes as well\b|\blikewise\b": "also",
    r"\blooked (?:at|into)\b": "checked, read",
    r"\b(?:is|are|was|were) taken for\b": "counts as",
    r"\b(?:is|are|was|were) let\b": "may",
    r"\bbeside\b": "next to",
    r"\bas (?:a|the) manifest says\b": "in the desired state",
    r"\bas desired\b": "in the desired state; for its opposite: differs",
    r"\bsay the same\b": "identical output",
    r"\bknows? less\b": "is less precise",
    r"\blooks? after\b": "manages",
    r"\bfetched whole\b|\bwhole at (?:every|any)\b": "completely, atomically",
    r"\bthis manner\b|\bnot so\b": "this way",
    r"\b(?:stays?|stayed|left|leaves? \w+) as (?:it|they) (?:is|are|was|were)\b": "is not changed",
    r"\bused as (?:it|they) (?:is|are)\b|\b(?:why|where) \w+(?: \w+)? is as it is\b": "unchanged",
    r"(?<!lines )\bstays?(?:[.;|]| byte for byte|, (?:also|too|and))": "is kept",
    r"\bstays? (?:behind|there)\b": "is kept, remains",
    r"\balso (?:if|after|with)\b|\balso in (?:a preview|noop)\b": "even if, including",
    r"\bin a preview,? too\b": "even in a preview",
    r"\bwhatever\b|\bwhichever\b": "regardless of",
    r"\b(?:says?|said) so\b": "reports this",
    r"\bthe same holds\b|\b(?:this|it|result)s? holds? (?:for|if|with|unless)\b": "applies",
    r"\bconditions? (?:must |does not )?holds?\b|\bmust hold\b": "is met",
    r"\bholds? (?:a|an|the|no|only|what)\b(?! lock)": "contains",
    r"\b(?:is|are) to be\b|\bha(?:s|ve) to be\b": "must be",
    r"\bof which\b": "two sentences",
    r"\bmeanwhile\b|\banew\b": "in the meantime, again",
    r"\brefreshes that are due\b|\bdue refresh(?:es)?\b": "pending refreshes",
    r"\bwhat (?:an?|the) [\w-]+ says\b": "the noun itself",
    r"\bwhat is (?:dangerous|planned|desired)\b": "the dangerous changes, and so on",
    r"\bat hand\b|\bat work\b": "available, in use, running",
    r"\bcannot be asked\b|\basks? nothing\b": "cannot be reached, does not prompt",
}

# Phrases of the old style in docstrings of the controller, each with what to write instead.
DOCSTRING_PHRASES = {
    r"\bspelt\b": "spelled",
    r"\banew\b": "again",
    r"\b(?:a stranger's|strangers)\b": "untrusted",
    r"\b(?:None|[A-Z]\w*Error|\"\"|empty) where (?:there|it|they|the|an?|no|one|that)\b": "if",
    r"\b[Gg]oes on\b": "continues",
    r"\ban? \w+ of (?:its|their|our|his) own\b": "its own",
    r"\b[Tt]ake note\b": "note",
    r"\bwho(?:ever|m)\b": "the user who, the caller",
    r"\bwhatever\b": "regardless of, any",
    r"\bat hand\b": "available",
    r"(?:^|[.!?:] )What (?:an?|the|it|is|was) ": "the noun itself",
    r"\bmended\b|\bheeds?\b": "fixed, follows",
    r"\bas (?:it|they) (?:is|are|was|were)[.,;]": "unchanged",
}
CONTROLLER = [
    *sorted((ROOT / "inventory").rglob("*.py")),
    *sorted((ROOT / "orchestrator").rglob("*.py")),
    *sorted((ROOT / "schemas").rglob("*.py")),
]
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*_]*\s+")


def prose(text: str) -> str:
    """The page without code blocks, generated parts, comments and pictures."""
    text = re.sub(r"<!-- ([\w-]+):begin -->.*?<!-- \1:end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"^```.*?^```[ ]*$", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    text = re.sub(r"``.+?``|`[^`]*`", "CODE", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of paragraphs and list items; tables and headings are left out."""
    lines = [line for line in prose(text).splitlines() if not re.match(r"\s*(?:\||#)", line)]
    lines = [re.sub(r"^> ?", "", line) for line in lines]
    marked = "\n".join(re.sub(r"^\s*(?:[-*]|\d+\.) ", "\n", line) for line in lines)
    for block in re.split(r"\n\s*\n", marked):
        for sentence in _SENTENCE_END.split(" ".join(block.split())):
            if len(words(sentence)) > 1:
                yield sentence


def words(sentence: str) -> list[str]:
    """The words of a sentence; code counts as one."""
    return re.findall(r"\S*[A-Za-z0-9]\S*", sentence)


def found_phrases(text: str) -> list[str]:
    """The phrases of the old style in a page, each with what to write instead."""
    flat = " ".join(prose(text).split())
    return [
        f"…{flat[max(0, match.start() - 40) : match.end() + 20]}… (write: {instead})"
        for pattern, instead in PHRASES.items()
        for match in re.finditer(pattern, flat, re.IGNORECASE)
    ]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_sentences_are_short(page: Path) -> None:
    """Half of a page's sentences have at most 18 words, and none has more than 40."""
    found = list(sentences(page.read_text(encoding="utf-8")))
    counts = [len(words(sentence)) for sentence in found]
    assert [one for one in found if len(words(one)) > MAX_WORDS] == []
    assert statistics.median(counts) <= MEDIAN_WORDS


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_words_are_plain(page: Path) -> None:
    """A page has no phrase of the old style."""
    assert found_phrases(page.read_text(encoding="utf-8")) == []


def found_docstring_phrases(source: str) -> list[str]:
    """The phrases of the old style in docstrings, each with what to write instead."""
    tree = ast.parse(source)
    nodes = [node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)]
    texts = [" ".join((ast.get_docstring(node) or "").split()) for node in nodes]
    return [
        f"{text[:100]}… (write: {instead})"
        for text in texts
        for pattern, instead in DOCSTRING_PHRASES.items()
        if re.search(pattern, text)
    ]


def test_docstrings_are_plain() -> None:
    """No docstring of the controller has a phrase of the old style."""
    found = {
        _name(path): phrases
        for path in CONTROLLER
        if (phrases := found_docstring_phrases(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_phrases_of_docstrings_are_found() -> None:
    """A phrase counts in a docstring, also over two lines, but not in code or a comment."""
    source = (
        '"""What a module\ndoes."""\ndef f():\n    """A plan, anew."""\n    return "anew"  # anew\n'
    )
    assert len(found_docstring_phrases(source)) == 2


def test_sentences_and_phrases_are_found() -> None:
    """Prose is split into sentences; code, tables, headings and generated parts do not count."""
    text = (
        "# A page\n\nOne `a. B` sentence. Another\none [with a link](x.md#y).\n\n"
        "- First item\n- Second item. ccm is next. It stands there\n\n| A cell. With text |\n"
        "```\nIt is told. So it is\n```\n<!-- part:begin -->\nIt is kept.\n<!-- part:end -->\n"
    )
    assert list(sentences(text)) == [
        "One CODE sentence.",
        "Another one with a link.",
        "First item",
        "Second item.",
        "ccm is next.",
        "It stands there",
    ]
    assert len(found_phrases(text)) == 1
    assert "(write: is)" in found_phrases(text)[0]
