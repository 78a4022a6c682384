"""Manifests that are refused: each with the fragments that its error must hold."""

DEFAULTS = '{owner: root, group: root, mode: "0644"}'

SITES = {
    "invalid YAML": ("ccm:\n  resources: [\n", ["site.yaml:3:1"]),
    "a tab": ("ccm:\n\tresources: []\n", ["site.yaml:2:1", "tab"]),
    "nothing": ("", ["site.yaml:1:1"]),
    "a list": ("- exec: []\n", ["site.yaml:1:1", "map"]),
    "empty resources": ("ccm:\n  resources: []\n", ["site.yaml:2:14", "empty"]),
    "a duplicate key": (
        "ccm:\n  resources:\n    - exec:\n        - a: {command: b, command: c}\n",
        ["site.yaml:4:27", "command"],
    ),
    "a duplicate resource": (
        "ccm:\n  resources:\n    - exec:\n        - a: {}\n        - a: {}\n",
        ["site.yaml:5:11", "exec#a", "site.yaml:4"],
    ),
    "a misspelt property": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        "        - /a: {ownner: root, contnet: x}\n",
        ["site.yaml:5:16", "'ownner'", "owner", "site.yaml:5:30", "'contnet'", "content"],
    ),
    "a misspelt type": (
        "ccm:\n  resources:\n    - pakcage:\n        - a: {}\n",
        ["site.yaml:3:7", "pakcage", "package"],
    ),
    "a misspelt top": ("ccn:\n  resources: []\n", ["site.yaml:1:1", "ccn", "ccm"]),
    "wrong types": (
        "ccm:\n  fail_on_error: perhaps\n  resources:\n    - exec:\n"
        "        - a: {returns: zero, timeout: [1], refresh_only: 7}\n",
        ["site.yaml:2:18", "site.yaml:5:24", "site.yaml:5:39", "site.yaml:5:58"],
    ),
    "a provider that is not there": (
        "ccm:\n  resources:\n    - exec:\n        - a: {provider: shel}\n",
        ["site.yaml:4:25", "shel", "shell"],
    ),
    "a version as a float": (
        "ccm:\n  resources:\n    - package:\n        - nginx: {ensure: 1.10}\n",
        ["site.yaml:4:27", "quote"],
    ),
    "missing attributes": (
        "ccm:\n  resources:\n    - file:\n        - /a: {content: x}\n",
        ["site.yaml:4:11", "owner", "group", "mode"],
    ),
    "rules of a file": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        "        - a/relative: {content: x}\n        - /a/../b: {content: x}\n"
        "        - /: {ensure: absent, force: true}\n        - /both: {content: x, source: y}\n"
        "        - /mode: {content: x, mode: '17777'}\n        - /forced: {force: true}\n"
        "        - /octal: {content: x, mode: '0899'}\n",
        [f"site.yaml:{line}:" for line in (5, 6, 7, 8, 9, 10, 11)] + ["7777", "root directory"],
    ),
    "rules of an exec": (
        "ccm:\n  resources:\n    - exec:\n"
        '        - a: {command: "it\'s"}\n        - b: {path: bin}\n'
        "        - c: {environment: [X]}\n        - d: {timeout: soon}\n"
        "        - e: {subscribe: [nowhere]}\n",
        [f"site.yaml:{line}:" for line in (4, 5, 6, 7, 8)],
    ),
    "values that no type has": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        "        - /a: {owner: ''}\n        - /b: {group: ''}\n        - /c: {mode: ''}\n"
        "        - /d: {ensure: link}\n"
        "    - apply:\n        - a.yaml: {ensure: absent}\n"
        "    - exec:\n        - e: {ensure: absent}\n        - f: {onlyif: ' '}\n"
        "    - archive:\n        - /g.zip: {ensure: latest}\n",
        [f"site.yaml:{line}:" for line in (5, 6, 7, 8, 10, 12, 13)]
        + ["site.yaml:15:28"]
        + [f"required property '{one}' is missing" for one in ("url", "owner", "group")],
    ),
    "references to nothing": (
        "ccm:\n  resources:\n    - exec:\n        - restart: {}\n"
        "        - a: {require: [exec#restrat]}\n        - b: {require: [exec#c]}\n"
        "        - c: {}\n",
        ["site.yaml:5:25", "exec#restart", "site.yaml:6:25", "later"],
    ),
    "a reference that is a template": (
        "ccm:\n  resources:\n    - exec:\n        - a: {}\n"
        '        - b: {require: ["exec#{{ Data.x }}"]}\n',
        ["site.yaml:5:25", "not rendered", "alias"],
    ),
    "a duration without its unit": (
        "ccm:\n  resources:\n    - exec:\n        - a: {timeout: 5}\n",
        ["site.yaml:4:24", "is not a duration such as 30s"],
    ),
    "a template that cannot be read": (
        'ccm:\n  resources:\n    - exec:\n        - a: {command: "echo {{ 1 + }}"}\n'
        "        - b: {command: 'echo {{ Data.x'}\n",
        ["site.yaml:4:", "site.yaml:5:"],
    ),
    "an unknown name in a template": (
        'ccm:\n  resources:\n    - exec:\n        - a: {command: "echo {{ Dta.x }}"}\n',
        ["site.yaml:4:", "Dta", "Data"],
    ),
    "a control that is no expression": (
        "ccm:\n  resources:\n    - exec:\n        - a: {control: {if: 'Facts.x =='}}\n",
        ["site.yaml:4:"],
    ),
    "a name with control characters": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        '        - "/etc/a\\u001b[31mb": {content: x}\n',
        ["site.yaml:5:11", "control character"],
    ),
    "a source that is not there": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        "        - /a: {source: files/missing}\n",
        ["site.yaml:5:24", "files/missing"],
    ),
    "a source that is a folder": (
        f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
        "        - /a: {source: home}\n",
        ["site.yaml:5:24", "directory"],
    ),
    "rules of a link": (
        "ccm:\n  resources:\n    - link:\n"
        "        - relative: {target: x}\n        - /a/../b: {target: x}\n"
        "        - /a/: {target: x}\n        - /b: {}\n"
        "        - /c: {target: ''}\n        - /d: {target: /d}\n"
        "        - /e: {target: [x]}\n        - /f: {target: x, force: perhaps}\n"
        "        - /g: {target: x, mode: '0644'}\n        - /h: {ensure: link, target: x}\n"
        '        - /i: {target: "a\\nb"}\n        - /j: {ensure: absent, target: x}\n'
        "        - /k: {tagret: x}\n        - /l: {target: x, provider: windows}\n"
        "        - /m//n: {target: x}\n",
        [f"site.yaml:{line}:" for line in (*range(4, 15), 16, 17, 18)],
    ),
    "rules of a group": (
        "ccm:\n  resources:\n    - group:\n"
        "        - -g: {}\n        - a b: {}\n        - a:b: {}\n        - 4100: {}\n"
        f"        - {'a' * 33}: {{}}\n        - b: {{gid: -1}}\n        - c: {{gid: many}}\n"
        "        - d: {gid: 4294967295}\n        - e: {system: perhaps}\n"
        "        - f: {ensure: gone}\n        - g: {members: [bob]}\n        - h: {gdi: 7}\n"
        "        - i: {gid: 1.5}\n        - j: {ensure: absent, force: 7}\n",
        [f"site.yaml:{line}:" for line in range(4, 18)],
    ),
    "rules of a user": (
        "ccm:\n  resources:\n    - user:\n"
        "        - -u: {}\n        - a b: {}\n        - a:b: {}\n        - 4100: {}\n"
        f"        - {'a' * 33}: {{}}\n        - b: {{uid: -1}}\n        - c: {{uid: many}}\n"
        "        - d: {uid: 4294967295}\n        - e: {groups: adm}\n        - f: {groups: [27]}\n"
        "        - g: {append: true}\n        - h: {move_home: true}\n        - i: {home: srv/i}\n"
        "        - j: {shell: bash}\n        - k: {comment: 'a:b'}\n        - l: {password: '!x'}\n"
        "        - m: {password: 'a:b'}\n        - n: {expires: tomorrow}\n"
        "        - o: {expires: 2030-02-30}\n        - p: {ensure: gone}\n"
        "        - root: {ensure: absent}\n        - q: {generate_ssh_key: true, system: true}\n"
        "        - r: {shel: /bin/sh}\n        - s: {ensure: absent, remove_home: 7}\n",
        [f"site.yaml:{line}:" for line in range(4, 28)],
    ),
    "rules of a sysctl": (
        "ccm:\n  resources:\n    - sysctl:\n"
        "        - net: {value: 1}\n        - net..x: {value: 1}\n        - -net.x: {value: 1}\n"
        "        - net.ipv4.conf.*.rp_filter: {value: 1}\n        - a b.c: {value: 1}\n"
        "        - a/../b: {value: 1}\n        - a.b: {}\n        - a.c: {value: ''}\n"
        '        - a.d: {value: "1\\n2"}\n        - a.e: {value: true}\n'
        "        - a.f: {value: [1]}\n        - a.g: {value: 1.5}\n"
        "        - a.h: {value: 1, file: x.conf}\n        - a.i: {value: 1, file: /etc/x.conf}\n"
        "        - a.j: {value: 1, file: /etc/sysctl.d/x}\n        - a.k: {valeu: 1}\n"
        "        - a.l: {value: 1, live: perhaps}\n        - a.m: {value: 1, ensure: set}\n"
        "        - a.n: {value: 1, ignore_unknown: 7}\n        - a.o: {value: ' '}\n"
        "        - a.p: {value: 1, file: /etc/sysctl.d/../x.conf}\n",
        [f"site.yaml:{line}:" for line in range(4, 25)],
    ),
    "rules of a module": (
        "ccm:\n  resources:\n    - module:\n"
        "        - -r: {}\n        - a b: {}\n        - a/b: {}\n        - a.ko: {}\n"
        f"        - {'a' * 65}: {{}}\n        - a: {{options: [x]}}\n"
        "        - b: {options: 'x=1 ; rm'}\n        - c: {options: 'x=1 #'}\n"
        '        - d: {options: "x=1\\ny"}\n        - e: {ensure: loaded}\n'
        "        - f: {live: perhaps}\n        - g: {ensure: absent, blacklist: 7}\n"
        "        - h: {blacklist: true}\n        - i: {option: x}\n        - j: {options: 7}\n",
        [f"site.yaml:{line}:" for line in range(4, 19)],
    ),
    "rules of a mount": (
        "ccm:\n  resources:\n    - mount:\n"
        "        - srv/x: {device: tmpfs}\n        - /a/../b: {device: tmpfs}\n"
        "        - /a/: {device: tmpfs}\n        - /a: {}\n        - /: {ensure: absent}\n"
        "        - /proc: {ensure: unmounted}\n        - /b: {device: '', type: tmpfs}\n"
        "        - /c: {device: srv/c, options: bind}\n        - /d: {device: x, options: 'a b'}\n"
        "        - /e: {device: x, options: [ro]}\n        - /f: {device: x, dump: 2}\n"
        "        - /g: {device: x, pass: 3}\n        - /h: {device: x, pass: first}\n"
        "        - /i: {device: x, ensure: mount}\n        - /j: {device: x, nofail: perhaps}\n"
        "        - /k: {device: x, options: remount}\n        - /l: {device: x, type: 'a b'}\n"
        "        - /m: {devise: x}\n        - /n: {type: swap, options: bind}\n"
        '        - /o: {device: "a\\nb"}\n        - /p: {device: x, force: true}\n'
        "        - /usr: {ensure: absent}\n",
        [f"site.yaml:{line}:" for line in range(4, 26)],
    ),
}
