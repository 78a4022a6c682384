"""What every form of a report says became of each resource of one host."""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

CHANGED, FAILED, UNCHANGED, SKIPPED = "changed", "failed", "unchanged", "skipped"
NOT_RUN, NOT_KNOWN = "not run", "not known"
FORMS = ("text", "json", "html", "markdown", "junit", "metrics")
_LISTS = {"not run": NOT_RUN, "unknown": NOT_KNOWN}
_STATUSES = {"changed": CHANGED, "failed": FAILED, "stable": UNCHANGED, "skipped": SKIPPED}
_HEADINGS = {"Not run": NOT_RUN, "Unknown": NOT_KNOWN, "Changes": CHANGED}

Claims = Iterator[tuple[str, str]]
"""Names of resources, each with what is said of it."""


def claims(form: str, text: str, host: str) -> Claims:
    """What a report in that form says."""
    yield from _READERS[form](text, host)


def of_text(text: str, host: str) -> Claims:
    """What the summary of a push, or a report, says on a terminal."""
    for line in text.splitlines():
        words = line.strip()
        for phrase, claim in _LISTS.items():
            if words.startswith(f"{phrase}: "):
                yield from ((name, claim) for name in unfold(words.partition(": ")[2]))
        found = re.match(r" +(changed|failed|skipped|unchanged)  +(\w+#\S+)", line)
        if found:
            yield found[2], found[1]


def _of_json(text: str, host: str) -> Claims:
    document: dict[str, Any] = json.loads(text)
    told = document["hosts"][host]
    yield from ((name, NOT_RUN) for name in told.get("did_not_run", ()))
    yield from ((name, NOT_KNOWN) for name in told.get("not_known", ()))
    yield from _of_events(document["events"], host)


def _of_events(events: Iterable[Mapping[str, Any]], host: str) -> Claims:
    for event in events:
        if event["host"] == host:
            yield f"{event['type']}#{event['name']}", _STATUSES[event["status"]]


def _of_page(text: str, host: str) -> Claims:
    finding = r'data-resource="([^"]+)" data-hosts="([^"]+)" data-status="([^"]+)"'
    for name, hosts, status in re.findall(finding, text):
        if host in html.unescape(hosts).split():
            yield html.unescape(name), _STATUSES[status]
    for heading, claim in _HEADINGS.items():
        section = re.search(rf"<h2>{heading}</h2>(.*?)</section>", text, re.DOTALL)
        row = r'<th scope="row" class="names">([^<]+)<td>([^<\n]+)'
        for hosts, names in re.findall(row, section[1]) if section and claim != CHANGED else ():
            if host in unfold(html.unescape(hosts)):
                yield from ((name, claim) for name in unfold(html.unescape(names)))


def _of_markdown(text: str, host: str) -> Claims:
    heading = ""
    for line in text.splitlines():
        if line.startswith("### "):
            heading = line[4:]
        found = re.match(r"- (?:(\w+#\S+) )?on ([^:]+)(?:: (.*))?$", line.replace("`", ""))
        claim = _HEADINGS.get(heading)
        if found is None or claim is None or host not in unfold(found[2]):
            continue
        if claim == CHANGED:
            yield found[1], CHANGED
        else:
            yield from ((name, claim) for name in unfold(found[3]))


def _of_junit(text: str, host: str) -> Claims:
    for case in ElementTree.fromstring(text).iter("testcase"):
        name = str(case.get("name"))
        if case.get("classname") != host or "#" not in name:
            continue
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            yield name, FAILED
        elif skipped is not None:
            message = str(skipped.get("message"))
            yield name, next((c for p, c in _LISTS.items() if message.startswith(p)), SKIPPED)
        # One without either is as it should be by now, whether it was changed or not.


def _of_metrics(text: str, host: str) -> Claims:
    counter = r'choria_ccm_resource_state_(\w+)_count\{.*?name="(.*?)",type="(\w+)"\} ([1-9])'
    for status, name, kind, _ in re.findall(counter, text):
        if status in _STATUSES:
            yield f"{kind}#{name}", _STATUSES[status]
    unknown = re.search(r"^choria_ccm_resources_not_known_count ([\d.]+)$", text, re.MULTILINE)
    for number in range(int(float(unknown[1])) if unknown else 0):
        yield f"resource {number}", NOT_KNOWN


def unfold(text: str) -> list[str]:
    """The names of a list in which those that differ in a number only are one."""
    names = []
    for part in text.split(", "):
        found = re.fullmatch(r"(.*)\[([\d,-]+)\](.*)", part)
        if found is None:
            names.append(part)
            continue
        for span in found[2].split(","):
            first, _, last = span.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            names += [f"{found[1]}{number}{found[3]}" for number in numbers]
    return names


_READERS = {
    "text": of_text,
    "json": _of_json,
    "html": _of_page,
    "markdown": _of_markdown,
    "junit": _of_junit,
    "metrics": _of_metrics,
}


def contradictions(said: Iterable[tuple[str, str]], happened: set[str]) -> list[str]:
    """Which of these claims the host contradicts, on which ``happened`` had their effect."""
    found = []
    known: set[str] = set()
    for name, claim in said:
        if claim == CHANGED and name not in happened:
            found.append(f"{name} is said to have changed")
        elif claim == UNCHANGED:
            found.append(f"{name} is said to have been as desired")
        elif claim in (NOT_RUN, SKIPPED) and name in happened:
            found.append(f"{name} is said to have not run")
        if name in known:
            found.append(f"{name} is told twice")
        known.add(name)
    return found
