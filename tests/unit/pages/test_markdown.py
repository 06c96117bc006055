"""Markdown files keep their text and lose what does not read as words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pages.markdown import read_markdown, without_components

_BOMB = "a: &a0 [x, x, x, x]\n" + "".join(
    f"b{n}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(30)
)  # YAML whose values are longer than any memory


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See [the wiki](https://a.example/x).", "See the wiki."),
        ('[a](x "title") and [b](<y z>)', "a and b"),
        ("[Kiel](https://a.example/Kiel_(city))", "Kiel"),
        ("[`run()`](api.md) and [**bold**](x)", "`run()` and **bold**"),
        ("[nested [brackets]](x)", "nested [brackets]"),
        ("[ref][1] and [Ref][] and [ref]\n\n[1]: x\n[ref]: <y z>", "ref and Ref and ref\n\n"),
        ("[1]:\n  https://a.example\n  'Title'\nText", "Text"),
        ("[1]: https://a.example 'Title'\nText", "Text"),
        ("![logo](logo.png)Text", "Text"),
        ("![logo][img]Text\n\n[img]: x.png", "Text\n\n"),
        ("[![build](b.svg)](https://ci.example) Text", " Text"),
        ("<https://a.example/x> and <mailto:ann@a.example>",
         "https://a.example/x and ann@a.example"),
        ("one<br>two<br />three", "one\ntwo\nthree"),
        ("<p align=center>Text <kbd>K</kbd></p>", "Text `K`"),
        ("<code>a &lt; `b`</code> and <tt>x</tt>", "`` a < `b` `` and `x`"),
        ("<pre><code>a &lt; *b*\n  [c](d)\n</code></pre>\nText",
         "```\na < *b*\n  [c](d)\n```\nText"),
        ("| a<br>b |", "| a b |"),
        ("- [One](1.md)\n* **[Two](#2)**\n+ [Three](3.md) and more",
         "+ One\n+ **Two**\n- Three and more"),
        ("a<!-- ignore all\nprevious -->b", "ab"),
        ("a<!-- never closed", "a"),
        ("Title\n=====\n\nText", "# Title\n\nText"),
        ("Part\n---\nText", "## Part\nText"),
        # what must stay as it is
        ("`[in](code)` and ``a ` [b](c)``", "`[in](code)` and ``a ` [b](c)``"),
        ("```\n[in](code) <!-- kept -->\n# no heading\n```\n",
         "```\n[in](code) <!-- kept -->\n# no heading\n```\n"),
        ("~~~ py\n```\n[x](y)\n~~~\n[x](y)", "~~~ py\n```\n[x](y)\n~~~\nx"),
        ("````\n```\n[x](y)\n```\n````\n", "````\n```\n[x](y)\n```\n````\n"),
        ("```\nnever closed [x](y)", "```\nnever closed [x](y)"),
        ("| a | b |\n| --- | --- |\n| [x](y) | 2 |", "| a | b |\n| --- | --- |\n| x | 2 |"),
        ("- item\n---\n", "- item\n---\n"),
        ("Text\n\n---\n\nText", "Text\n\n---\n\nText"),
        ("matrix[3][4] and a[i][j] and ![x][y] and [see][1]",
         "matrix[3][4] and a[i][j] and ![x][y] and [see][1]"),
        (r"\[3][4]", r"\[3][4]"),
        ("[Note]: this is no definition", "[Note]: this is no definition"),
        ("- [ ] todo [^1] arr[0] [link]", "- ☐ todo [^1] arr[0] [link]"),
        ("[^1]: a footnote", "[^1]: a footnote"),
        ("a < b and List<String> and <placeholder>", "a < b and List<String> and <placeholder>"),
        ("*emphasis* and **strong** and snake_case", "*emphasis* and **strong** and snake_case"),
        (r"\[not a link\](x)", r"\[not a link\](x)"),
    ],
)  # fmt: skip
def test_the_words_stay_and_the_machinery_goes(source: str, text: str) -> None:
    assert read_markdown(source)[1] == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Text\n\n    *code*\n\n      [a][b]\n\nText",
         "Text\n\n```\n*code*\n\n  [a][b]\n```\n\nText"),
        ("\tfirst **line**\n", "```\nfirst **line**\n```\n"),
        ("    with ``` in it", "````\nwith ``` in it\n````\n"),
        ("- item\n\n      code *x*\n\n- next", "- item\n\n```\ncode *x*\n```\n\n- next"),
        ("1. item\n\n   ```sh\n   run [x](y)\n     more\n   ```\n2. next",
         "1. item\n\n```sh\nrun [x](y)\n  more\n```\n2. next"),
        ("- a\n  - b\n\n        code [x](y)\n\nend",
         "- a\n  - b\n\n```\ncode [x](y)\n```\n\nend"),
        # what is indented and no code
        ("Text\n    goes [on](x)", "Text\n    goes on"),
        ("- item\n\n  goes [on](x)", "- item\n\n  goes on"),
        ("1.  item\n\n    goes [on](x)", "1.  item\n\n    goes on"),
        ("- a\n\n    - b [x](y)", "- a\n\n    - b x"),
        ("!!! note\n\n    A [note](x)", "!!! note\n\n    A note"),
        ("[^1]: a\n\n    footnote [x](y)", "[^1]: a\n\n    footnote x"),
    ],
)  # fmt: skip
def test_indented_code_is_told_from_indented_text(source: str, text: str) -> None:
    assert read_markdown(source)[1] == text


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# A *title* with `code`\n\n## Part", "A title with code"),
        ("Text first\n\n## Part ##\n", "Part"),
        ("Title\n=====\nText", "Title"),
        ("# [Linked](x) title", "Linked title"),
        ("---\ntitle: From the front\n---\n# Heading", "From the front"),
        ("---\nlayout: x\ntitle: \"Quoted: title\"\n---\n", "Quoted: title"),
        ("+++\ntitle = 'TOML'\n+++\nText", "TOML"),
        ("---\nlayout: x\n---\n# Heading", "Heading"),
        ("```\n# comment\n```\n# Heading", "Heading"),
        (r"# The \_size\_ of `x`", "The _size_ of x"),
        ("no heading, #hashtag", ""),
    ],
)  # fmt: skip
def test_the_title_is_the_front_matters_or_the_first_heading(source: str, title: str) -> None:
    assert read_markdown(source)[0] == title


@pytest.mark.parametrize(
    ("matter", "text"),
    [
        ("owner: \"[[Nina Okafor]]\"\ndue: 2026-09-30",
         "- Owner: Nina Okafor\n- Due: 2026-09-30\n\n"),
        ("tags: [a, b]\naliases:\n  - x\n  - y z", "- Tags: a, b\n- Aliases: x, y z\n\n"),
        ("sidebar_label: One\nempty:\nauthor: {name: Ada, mail: a@b.c}",
         "- Sidebar label: One\n- Author: name: Ada, mail: a@b.c\n\n"),
        ("title: Only", ""),
        ("owner: Nina: the first\nplan: [a", "- Owner: Nina: the first\n- Plan: [a\n\n"),  # no YAML
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
         "- A: x, x\n- B: x, x, x, x\n- C: x, x, x, x, x, x, x, x\n\n"),
        ("- a\n- b", ""),
    ],
)  # fmt: skip
def test_front_matter_is_a_list_at_the_head(matter: str, text: str) -> None:
    assert read_markdown(f"---\n{matter}\n---\nText").text == f"{text}Text"


def test_other_front_matter() -> None:
    assert read_markdown("+++\ndue = 2026-09-30\n+++\nText").text == "- Due: 2026-09-30\n\nText"
    assert len(read_markdown("---\n" + _BOMB + "---\nText").text) < 20_000
    assert read_markdown("---\nno end\n\nText")[1] == "---\nno end\n\nText"


@pytest.mark.parametrize(
    ("source", "text", "comments"),
    [
        ("a %% internal: 80 k %% b", "a  b", 1),
        ("a\n\n%%\none\n\ntwo\n%%\n\nb", "a\n\n\n\nb", 1),
        ("a {/* TODO */} b<!-- c -->", "a  b", 2),
        ("`%% a %%` and `<!-- b -->`", "`%% a %%` and `<!-- b -->`", 0),
        ("100%% sure and 5%% off", "100%% sure and 5%% off", 0),
    ],
)
def test_comments_are_left_out_and_counted(source: str, text: str, comments: int) -> None:
    reading = read_markdown(source)
    assert (reading.text, reading.omitted.get("comment", 0)) == (text, comments)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("import A from './a'\nimport {\n  B,\n} from \"b\";\n\n# T\n", "\n\n\n# T\n"),
        ("export const limit = 1\n\nexport function f() {\n  return 1\n}\n\nText", "\n\n\n\nText"),
        ("import duties apply.\nexport goods, too.", "import duties apply.\nexport goods, too."),
        ('<Note type="a > b">90 MB</Note> <br/><Icon />', "90 MB <br/>"),
        ('<Tab title="Linux" x={1}>\nRun it.\n</Tab>', "\n\nLinux\n\n\nRun it.\n"),
        ("```js\nimport a from 'b'\n```", "```js\nimport a from 'b'\n```"),
    ],
)
def test_components_of_mdx_leave_their_words(source: str, text: str) -> None:
    assert without_components(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1. [X] Done\n   - [ ] Open", "1. ☑ Done\n   - ☐ Open"),
        ("> - [x] Done\n\n[ ] Open", "> - ☑ Done\n\n☐ Open"),
        ("| Pump | [x] |\n| --- | --- |\n| Valve | [ ] shut |",
         "| Pump | ☑ |\n| --- | --- |\n| Valve | ☐ shut |"),
        ("<input type='checkbox' checked> Done <input type=checkbox> Open <input type=text>",
         "☑ Done ☐ Open "),
        ("- [x](done.md) and [ ] more", "- x and [ ] more"),
        ("~~One. Two.~~ Three", "~~One.~~ ~~Two.~~ Three"),
        ("<del>One</del> <s class=a>Two</s> <strike>Three</strike>", "~~One Two Three~~"),
        ("`~~a~~` ~~ b ~~", "`~~a~~` ~~ b ~~"),
        ("[[Sites/Lyon|Lyon]], [[Turin]], ![[plan.png]], [[1]] and [[ -f x ]]",
         "Lyon, Turin, , [[1]] and [[ -f x ]]"),
        ("[Nina](mailto:nina@a.example?subject=x) or [desk][d]\n\n[d]: tel:+49-40-555",
         "Nina (nina@a.example) or desk (+49-40-555)\n\n"),
        ("[+49 40 555](tel:+4940555)", "+49 40 555"),
        ("[Click here](https://a.example/%20 'X') or [this file](../a%20b.md), [**hier**](<b.md>)",
         "Click here (https://a.example/%20) or this file (../a b.md), **hier** (b.md)"),
        ("[Here](#top), [here](javascript:x) and [rates](https://a.example)",
         "Here, here and rates"),
        ("![The yard in May](yard.png) and ![yard.png](yard.png)", "The yard in May and "),
    ],
)  # fmt: skip
def test_state_is_text(source: str, text: str) -> None:
    assert read_markdown(source).text == text


@given(st.text(st.sampled_from("[]()!`<>-=#\n ab\\:^~"), max_size=80))
def test_no_text_breaks_the_reader_and_code_is_kept(text: str) -> None:
    read_markdown(text)
    fenced = f"```\n{text.replace('`', '')}\n```\n"
    assert read_markdown(fenced)[1] == fenced


@pytest.mark.parametrize(
    "unit",
    [
        "%%",
        "\n%% ",
        "{/*",
        "- [ ] ",
        "[[a",
        "~~a",
        "<s>",
        "<input ",
        "[",
        "[a",
        "[a](",
        "![a](",
        "`a",
        "<!--",
        "<a ",
        "---\n",
        "a\n",
        "[\\",
    ],
)
def test_a_pathological_file_is_read_in_linear_time(unit: str) -> None:
    read_markdown(unit * (60_000 // len(unit)))
