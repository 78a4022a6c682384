"""What Jet's own documentation and test suite say of the language."""

import pytest

from tests.orchestrator.language.jet.fakes import DATA, render


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello {*Buddy*} World", "hello  World"),
        ('hello {{"world"}}', "hello world"),
        ('hello {{- " world" -}} !', "hello world!"),
        ('hello {{lower: "WORLD"}}', "hello world"),
        ('hello {{lower: "WORLD" |upper}}', "hello WORLD"),
        ('{{ "foo" | repeat(2) }}', "foofoo"),
        ('hello {{lower ( "WORLD" ) |upper}}', "hello WORLD"),
        ('hello {{lower: "WORLD-" |upper|repeat: 2}}', "hello WORLD-WORLD-"),
        ('hello {{lower ("WORLD-" ) |upper|repeat(2) }}', "hello WORLD-WORLD-"),
        ('{{ 2 | repeat("foo", _) }}', "foofoo"),
        ('{{ 2 | repeat("foo", _) | upper | repeat(_, 3) }}', "FOO" * 6),
        ('{{ 2 | repeat: "foo", _ | upper | repeat: _, 3 }}', "FOO" * 6),
        ('{{ "123" | len }}', "3"),
        ("{{ 2+1+4-3 }}", "4"),
        ('{{ 2+"1" }}', "3"),
        ('{{ "1"+2 }}', "12"),
        ('{{ "{foo:"+json("asd")+"}" }}', '{foo:"asd"}'),
        ("{{ -5 }}{{ 1 + -5 }}", "-5-4"),
        ("{{ 2+4*2+4 }}", "14"),
        ("{{ 1.23*1 }}", "1.23"),
        ("{{ (1 + 2) * 3 - 4.1 }}", "4.9"),
        ("{{ (2*5)/ 3 %1 }}", "0"),
        ("{{ 7 / 2 }} {{ -7 / 2 }} {{ 7 / 2.0 }} {{ -7 % 3 }}", "3 -3 3.5 -1"),
        ("{{ (2*5)==10 }} {{ (2*5)==5 || true }} {{ (2*5)==5 || false }}", "true true false"),
        ("{{ 5*5 > 2*12.5 }} {{ 5*5 >= 2*12.5 }}", "false true"),
        ("{{ 2*12.5 }}", "25"),
        ("{{ 5 * 5 > 2 * 12.5 == 5 * 5 > 2 * 12.5 }}", "true"),
        ('{{ _ = len("x") ; true }}', "true"),
        ("{{ s := slice(6, 7, 8, 9, 10, 11) }}{{ t := s[1:4] }}{{ len(t) }}{{ t[0] }}", "37"),
        ('{{ s := "helloworld" }}{{ s[1] }}{{ s[:2] }}', "101he"),
        ('{{ m := map("foo", 123, "bar", 456) }}{{ m["foo"] }} {{ m.bar }}', "123 456"),
        ('{{ m := map("foo", 123) }}{{ v, ok := m["x"] }}{{ ok }}{{ v }}', "false"),
        ('{{ m := map("x", 1) }}{{ if v, ok := m["x"]; ok }}{{ v }}{{ end }}', "1"),
        ('{{ foo := "bar" }}{{ foo }}{{ foo = 4711 }}{{ foo }}', "bar4711"),
        ("{{ a, b := 1, 2 }}{{ b }}{{ a }}", "21"),
        ('{{ .Data.on ? "yes" : "no" }}', "yes"),
        ("{{ false ? 1 : true ? 2 : 3 }}", "2"),
        ('{{ `raw \\n "x"` }}', 'raw \\n "x"'),
        ('{{ "tab\\there \\u00e9 \\x41" }}', "tab\there é A"),
        ("{{ nil }}|{{ data.none }}|{{ 0x1F }}|{{ 1e3 }}", "||31|1000"),
        ("{{ true || true && false }}", "false"),
        ("{{ !1 == 2 }}", "true"),
        ("{{ not true or true }}", "true"),
    ],
)
def test_an_action_writes_its_value(text: str, expected: str) -> None:
    """Expressions, pipes and assignments come to what Jet makes of them."""
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{if true}}hello{{end}}", "hello"),
        ("{{if false}}hello{{else}}world{{end}}", "world"),
        ("{{if false}}hello{{else if true}}world{{end}}", "world"),
        ("{{if false}}hello{{else if false}}world{{else}}buddy{{end}}", "buddy"),
        ("{{if false}}a{{else if x := 2; x == 2}}b{{x}}{{else}}c{{end}}", "b2"),
        ('{{if data["name"] == "web"}}is{{end}}', "is"),
        ("{{if data.no}}an empty list is true{{end}}", "an empty list is true"),
        ("{{if data.empty}}x{{else if data.none}}y{{else if 0}}z{{else}}-{{end}}", "-"),
        ("{{range data.list}}{{.}};{{end}}", "a;b;c;"),
        ("{{range i := data.list}}{{i}}{{.}}{{end}}", "0a1b2c"),
        ("{{range i, v := data.list}}{{i}}{{v}}{{end}}", "0a1b2c"),
        ("{{range _, u := data.users}}{{u.name}}{{if u.admin}}!{{end}} {{end}}", "Eva! Udo "),
        ("{{range data.users}}{{.name}}{{end}}", "EvaUdo"),
        ("{{range k, v := data.map}}{{k}}={{v}} {{end}}", "a=1 b=2 "),
        ("{{range k := data.map}}{{k}}={{.}} {{end}}", "a=1 b=2 "),
        ("{{range data.no}}x{{else}}none{{end}}", "none"),
        ("{{range ints(0, 3)}}{{.}}{{end}}", "012"),
        ("{{range i, v := data.list}}{{.Data.name}}{{end}}", "webwebweb"),
        ("{{ n := 0 }}{{range data.list}}{{ n = n + 1 }}{{end}}{{ n }}", "3"),
        ("{{ n := 0 }}{{range data.list}}{{ n := 9 }}{{end}}{{ n }}", "0"),
        ("{{ n := 0 }}{{if true}}{{ n := 1 }}{{ n }}{{end}}{{ n }}", "10"),
        (
            "{{range a := ints(0,2)}}{{range b := ints(0,2)}}{{a}}{{b}} {{end}}{{end}}",
            "00 01 10 11 ",
        ),
        ("{{try}}a{{ missing }}{{end}}b", "b"),
        ("{{try}}a{{ data.x }}{{catch}}caught{{end}}", "caught"),
        (
            "{{try}}{{ data.x }}{{catch err}}{{ err.Error() }}{{end}}",
            "data.x: no such path (t.jet:1:15)",
        ),
        ("{{try}}{{range data.list}}{{.x}}{{end}}{{end}}{{ .Data.name }}", "web"),
    ],
)
def test_control_structures(text: str, expected: str) -> None:
    """Branches, loops, scopes of variables and try do what Jet's do."""
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{{block hello() "Buddy" }}Hello {{ . }}{{end}},{{yield hello() data.name}}',
         "Hello Buddy,Hello web"),
        ('{{ block f(type="text", label) }}{{type}}:{{label}}{{ end }}', None),
        ('{{ block link(target="#") }}<{{ target }}>{{ yield content }}</>{{ end }}'
         ' {{ yield link(target="x") content }}Inc{{ end }}', "<#></> <x>Inc</>"),
        ('{{ name := "Sarah" }}{{ block header() }}[{{ yield content }}]'
         "{{ content }}Hey {{ name }}!{{ end }}", "[Hey Sarah!]"),
        ('{{ block row(cols="") }}({{ yield content }}){{ end }}'
         '{{ yield row(cols="12") content }}{{ cols }}{{ end }}', "()(12)"),
        ("{{ block menu() data.tree }}<{{ range . }}{{ .text }}"
         "{{ if len(.children) > 0 }}{{ yield menu() .children }}{{ end }}{{ end }}>{{ end }}",
         "<ab<c>>"),
    ],
)  # fmt: skip
def test_blocks(text: str, expected: str | None) -> None:
    """Blocks run where they stand and where they are yielded, with contexts and contents."""
    tree = [
        {"text": "a", "children": []},
        {"text": "b", "children": [{"text": "c", "children": []}]},
    ]
    if expected is None:
        with pytest.raises(Exception, match="the block needs label="):
            render(text)
    else:
        assert render(text, data={**DATA, "tree": tree}) == expected


def test_a_page_of_nested_contents() -> None:
    """Contents inside of contents see the variables and contents that were theirs."""
    text = (
        '{{ block col(md=12,offset=0) }}\n<div class="col-md-{{md}} col-md-offset-{{offset}}">'
        "{{ yield content }}</div>\n\t\t{{ end }}\n\t\t{{ block row(md=12) }}\n"
        '<div class="row {{md}}">{{ yield content }}</div>\n\t\t{{ content }}\n'
        '<div class="col-md-1"></div>\n\t\t{{ end }}\n\t\t{{ block header() }}\n'
        '<div class="header">\n\t{{ yield row() content}}\n\t\t{{ yield col(md=6) content }}\n'
        "{{ yield content }}\n\t\t{{end}}\n\t{{end}}\n</div>\n\t\t{{content}}\n<h1>Hey</h1>"
        "\n\t\t{{ end }}"
    )
    expected = (
        '\n<div class="col-md-12 col-md-offset-0"></div>\n\t\t\n\t\t\n<div class="row 12">\n'
        '<div class="col-md-1"></div>\n\t\t</div>\n\t\t\n\t\t\n<div class="header">\n\t\n'
        '<div class="row 12">\n\t\t\n<div class="col-md-6 col-md-offset-0">\n\n<h1>Hey</h1>\n'
        "\t\t\n\t\t</div>\n\t\t\n\t</div>\n\t\t\n</div>\n\t\t"
    )
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ isset(data.name) }} {{ isset(data.x) }} {{ isset(data.x.y) }}", "true false false"),
        ("{{ isset(data.none) }} {{ isset(nothing) }}", "false false"),
        ("{{ isset(data.list[1]) }} {{ isset(data.list[9]) }}", "true false"),
        ('{{ isset(data["name"], data.port) }}', "true"),
        ("{{ isset(.Data.x) ? .Data.x : `d` }}", "d"),
        ('{{ isset(lookup("data.name")) }} {{ isset(lookup("data.x")) }}', "true false"),
        ('{{ lookup("data.port") + 1 }} {{ lookup("data.x", "d") }}', "8081 d"),
        ('{{ hasPrefix("nginx", "ng") }} {{ "nginx" | hasSuffix: "x" }}', "true true"),
        ('{{ replace("a.b.c", ".", "-", -1) }} {{ replace("a.b.c", ".", "-", 1) }}', "a-b-c a-b.c"),
        ('{{ split("a,b", ",") }} {{ trimSpace("  x ") }}', '["a", "b"] x'),
        ("""{{ html("<a href='x'>") }} {{ url("a b&c") }}""", "&lt;a href=&#39;x&#39;&gt; a+b%26c"),
        ('{{ json(map("b", 1, "a", "<")) }}', '{"a":"\\u003c","b":1}'),
        ("{{ raw: data.name }}{{ data.name | unsafe }}{{ writeJson(1) }}", "webweb1\n"),
        ('{{ len("é") }} {{ len(data.list) }} {{ len(data.map) }}', "2 3 2"),
        ("{{ data.list }} {{ data.on }} {{ data.ratio }}", '["a", "b", "c"] true 0.5'),
        (
            "{{ Facts.host.info.os }}{{ facts.host.info.os }} {{ Environ.HOME }}",
            "linuxlinux /home/me",
        ),
        ("{{ Host.name }} {{ url := `x` }}{{ url }}", "web1 x"),
    ],
)
def test_functions_and_names(text: str, expected: str) -> None:
    """Jet's built-in functions and the names of a host are there."""
    assert render(text) == expected


def test_nothing_is_escaped() -> None:
    """A template writes configuration, so no sign in it is HTML."""
    assert render('<b>{{ "<&>" }}</b>') == "<b><&></b>"
