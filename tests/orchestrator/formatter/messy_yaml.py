"""Writes YAML as people do: any indentation, spaces, quotes, comments and blank lines."""

from __future__ import annotations

import random

SCALARS = (
    "a", "web1", "on", "0644", "'it''s'", '"x: y"', r"'^a\.b$'", '"{{ x }}"', "null", "~", "1.5",
    "true", "text with  two", "a#b", "http://x/y:80", "!!str 12", "'a \"q\"'",
)  # fmt: skip
TEXT = ("x", "  more", "- d", "k: v", "tail  ", "")
BEHIND = ("", "", "", "", " ", "  # t", "     # tt", " # one", "\t# tab")
DEEPEST = 14


class Writer:
    """One random document; ``text`` is what it wrote."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.anchors: list[str] = []
        column = self.one(0, 0, 0, 2)
        self.between(column)
        self.mapping(column)
        self.between(column)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def one(self, *choices: int) -> int:
        return self.random.choice(choices)

    def blanks(self, *widths: int) -> str:
        return " " * self.random.choice(widths)

    def key(self) -> str:
        self.count += 1
        return self.random.choice(["k%d", "'k %d'", '"k%d"', "k-%d", "/etc/k%d"]) % self.count

    def behind(self) -> str:
        return self.random.choice(BEHIND)

    def between(self, column: int) -> None:
        """Blank lines and comments in any column."""
        while self.random.random() < 0.25:
            if self.random.random() < 0.5:
                self.lines.append(self.blanks(0, 0, 3))
            else:
                self.count += 1
                indent = " " * max(0, column + self.one(0, 0, 0, -2, -1, 1, 2, 5))
                self.lines.append(f"{indent}# @secret c{self.count}{self.blanks(0, 1)}")

    def flow(self, depth: int = 0) -> str:
        chance = self.random.random()
        if depth > 2 or chance < 0.4:
            return self.random.choice(SCALARS)
        count = self.random.randint(0, 3)
        if chance < 0.7:
            items = [self.flow(depth + 1) for _ in range(count)]
            comma = self.blanks(0, 1) + "," + self.blanks(0, 1, 2)
            return f"[{self.blanks(0, 1)}{comma.join(items)}{self.blanks(0, 1)}]"
        pairs = [f"{self.key()}:{self.blanks(1, 2)}{self.flow(depth + 1)}" for _ in range(count)]
        return f"{{{self.blanks(0, 1)}{', '.join(pairs)}{self.blanks(0, 2)}}}"

    def value(self, column: int, begun: str, *, in_list: bool = False) -> None:
        """The value behind a key or a dash in this column."""
        anchor = ""
        if self.random.random() < 0.05:
            self.count += 1
            self.anchors.append(f"a{self.count}")
            anchor = f" &{self.anchors[-1]}"
        further = column + self.one(1, 2, 4)
        chance = self.random.random()
        if self.anchors and not anchor and chance < 0.03:
            self.lines.append(f"{begun} *{self.anchors[0]}{self.behind()}")
        elif chance < 0.35 or column > DEEPEST:
            scalar = self.random.choice(SCALARS)
            self.lines.append(f"{begun}{anchor}{self.blanks(1, 1, 3)}{scalar}{self.behind()}")
        elif chance < 0.45:
            self.lines.append(f"{begun}{anchor}{self.blanks(1, 2)}{self.flow()}{self.behind()}")
        elif chance < 0.52:
            self.block_text(f"{begun}{anchor}", column, further)
        elif chance < 0.57:
            quote = self.random.choice(["", '"', "'"])
            self.lines += [f"{begun}{anchor} {quote}multi line", *([""] if quote else [])]
            self.lines.append(" " * further + f"second{quote}{self.behind()}")
        elif chance < 0.61:
            self.lines.append(f"{begun}{anchor} [one,{self.behind()}")
            self.lines += [" " * further + f"{self.flow(1)},  two,", " " * further + "# in flow"]
            self.lines.append(" " * further + "{k: v}]" + self.behind())
        elif chance < 0.8:
            self.lines.append(f"{begun}{anchor}{self.behind()}")
            self.mapping(further)
        else:
            self.lines.append(f"{begun}{anchor}{self.behind()}")
            self.listing(further if in_list else column + self.one(0, 2, 2, 3))

    def block_text(self, begun: str, column: int, further: int) -> None:
        style = self.random.choice("|>")
        explicit = self.random.random() < 0.3
        style += str(further - column) if explicit else ""
        style += self.random.choice(["", "-", "+"])
        self.lines.append(f"{begun} {style}{self.random.choice(['', ' # h'])}")
        body = [self.random.choice(TEXT) for _ in range(self.random.randint(1, 4))]
        body[0] = body[0] if explicit else "first"
        self.lines += [" " * further + line if line else "" for line in body]

    def mapping(self, column: int, begun: str = "") -> None:
        for _ in range(self.random.randint(1, 4)):
            if not begun:
                self.between(column)
            colon = self.random.choice([":", ":", " :"])
            self.value(column, f"{begun or ' ' * column}{self.key()}{colon}")
            begun = ""

    def listing(self, column: int, begun: str = "") -> None:
        for _ in range(self.random.randint(1, 3)):
            if not begun:
                self.between(column)
            dash = f"{begun or ' ' * column}-"
            gap = self.one(1, 1, 2, 3)
            chance = self.random.random()
            begun = ""
            if chance < 0.35 and column < DEEPEST:
                self.mapping(column + 1 + gap, dash + " " * gap)
            elif chance < 0.45 and column < DEEPEST:
                self.listing(column + 1 + gap, dash + " " * gap)
            else:
                self.value(column, dash, in_list=True)
