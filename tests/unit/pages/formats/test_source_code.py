"""Source code below the names of what it defines."""

from __future__ import annotations

import pytest

from bot.core.errors import PageUnreadable
from bot.pages.extract import from_bytes
from bot.pages.passages import split


def headings(source: str, name: str) -> list[str]:
    text = from_bytes(source.encode(), "text/x-source", name).text
    return list(dict.fromkeys(passage.heading for passage in split(text)))


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.py", "X = 1\n\nclass A(B):\n    @p\n    async def f(self):\n        1\n\ndef g(): pass",
         ["", "A", "A › f", "g"]),
        ("a.ts", "export default class K extends B {\n  async prune(n: Date): Promise<X> {\n  }\n"
         "}\nexport const limit = async (n: number) => n;", ["K", "K › prune", "limit"]),
        ("a.js", "function* gen() {}\nconst f = x => x;\nif (a) {\n}", ["gen", "f"]),
        ("a.go", "type Server struct {\n}\nfunc (s *Server) Start(c int) error {\n}",
         ["Server", "Start"]),
        ("a.java", "public final class A {\n  public static void lock(int n) throws X {\n"
         "    return foo(n);\n  }\n}", ["A", "A › lock"]),
        ("a.c", "static int *find(char *s) {\n  if (x) {\n    call(s);\n  }\n}", ["find"]),
        ("a.cs", "public record Item(int X);\npublic interface IShop {\n}", ["Item", "IShop"]),
        ("a.rs", "pub(crate) fn run<T>(x: T) {\n}\nimpl Shop {\n}\ntrait Sells {\n}",
         ["run", "Shop", "Sells"]),
        ("a.rb", "module Shop\n  def total\n  end\nend", ["Shop", "Shop › total"]),
        ("a.kt", "data class Item(val x: Int)\nfun total(): Int = 1", ["Item", "total"]),
        ("a.sql", "create or replace view v as select 1;\nCREATE TABLE IF NOT EXISTS a.users (x)",
         ["v", "a.users"]),
        ("a.tf", 'resource "aws_x" "web" {\n}', ['"aws_x" "web"']),
        ("a.sh", "#!/bin/sh\nfunction stop {\n}", ["stop"]),
    ],
)  # fmt: skip
def test_definitions_are_headings(name: str, source: str, expected: list[str]) -> None:
    assert headings(source, name) == expected


def test_comments_and_decorators_stay_with_what_they_are_about() -> None:
    text = from_bytes(b"import x\n\n# Keeps 21 days.\n@y\ndef keep():\n    pass", None, "a.py").text
    assert text == (
        "```py\nimport x\n```\n\n## keep\n\n```py\n# Keeps 21 days.\n@y\ndef keep():\n    pass\n```"
    )


def test_words_in_a_comment_define_nothing() -> None:
    assert headings('"""A\nclass of things\n\ntype for all\n"""\n', "a.py") == [""]


def test_compressed_code_is_refused() -> None:
    with pytest.raises(PageUnreadable, match=r"^a\.js is compressed code"):
        from_bytes(b"var a=1;" * 1_000, None, "a.js")
