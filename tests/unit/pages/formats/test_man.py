"""Manual pages in man(7) and mdoc(7)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import PageUnreadable
from bot.pages.formats.man import read_man
from bot.pages.formats.roff import Roff, arguments


def text_of(source: str) -> str:
    return read_man(source, "x.1").text


def test_a_page() -> None:
    source = r""".\" a comment
.TH LS 1 "May 2024" "GNU coreutils" "User Commands"
.SH NAME
ls \- list directory contents
.SH SYNOPSIS
.B ls
[\fI\,OPTION\/\fR]... [\fI\,FILE\/\fR]...
.SH DESCRIPTION
.\" another
.PP
List information about the FILEs.
Sort entries by name.
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore entries
starting with .
.IP
Not even these.
.TP
.BI \-w " COLS" , \ \-\-width= COLS
set output width
.SS Examples
.nf
ls \-l a[0]
  ls \-a
.fi
.IP \(bu 2
first
.IP 1. 4
counted
.SH "SEE ALSO"
.BR dircolors (1),
.UR https://a.example/
the site
.UE .
"""
    reading = read_man(source, "ls.1")
    assert reading.title == "LS(1)"
    assert reading.text == (
        "# LS(1)\n\n## NAME\n\nls - list directory contents\n\n## SYNOPSIS\n\n"
        "ls [OPTION]... [FILE]...\n\n## DESCRIPTION\n\n"
        "List information about the FILEs. Sort entries by name.\n\n"
        "- -a, --all: do not ignore entries starting with .\n  Not even these.\n"
        "- -w COLS, --width=COLS: set output width\n\n"
        "### Examples\n\n```\nls -l a[0]\n  ls -a\n```\n\n- first\n1. counted\n\n"
        "## SEE ALSO\n\ndircolors(1), the site."
    )


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("a\n.br\nb", "a\nb"),
        ("a\n.sp\nb", "a\n\nb"),
        ("a\n\nb", "a\n\nb"),
        ("a\n.PP\nb", "a\n\nb"),
        (".B bold\nand\n.I italic", "bold and italic"),
        ('.RB [ "\\-a b" ]', "[-a b]"),
        (".SM SMALL\ntext", "SMALL text"),
        (".UR http://a.example\n.UE", "http://a.example"),
        (".OP \\-a file", "[-a file]"),
        (".IP x\nis this", "- x: is this"),
        (".TP\nx\n.TQ\ny\nboth", "- x, y: both"),
        (".TP\nx\none\n.RS\n.TP\ny\ntwo\n.RE", "- x: one\n  - y: two"),
        ("\\-n, \\-\\-dry\\-run\n.RS 4\nDo nothing\\&.\n.RE", "- -n, --dry-run: Do nothing."),
        ("Said so.\n.RS 4\nAnd more.\n.RE", "Said so.\n\nAnd more."),
        (".EX\nx = 1\n.EE", "```\nx = 1\n```"),
        (".nf\n.RS\na\n.RE\n.fi\nb", "```\na\n```\n\nb"),
        ("a\\c\nb", "ab"),
        (".if n shown\n.if t hidden", "shown"),
        (".ie t hidden\n.el shown", "shown"),
        (".ie n \\{\\\nshown\n.\\}\n.el \\{\\\nhidden\n.\\}", "shown"),
        (".if \\n(.g shown", "shown"),
        (".if !n hidden\nshown", "shown"),
        (".if '\\*[.T]'ps' hidden\nshown", "shown"),
        (".de XX\nhidden\n..\nshown", "shown"),
        (".ig\nhidden\n..\nshown", "shown"),
        (".ds x words\nsome \\*x and \\*(lqquoted\\*(rq", "some words and “quoted”"),
        (".ds xx more\n.as xx \\& words\n\\*[xx]", "more words"),
        ("\\*(C`code[0]\\*(C'", "`code[0]`"),
        (".TS\ntab(|);\nl l.\nItem|Price\n_\nBus|3\nT{\na long\ncell\nT}|4\n.TE",
         "| Item | Price |\n| --- | --- |\n| Bus | 3 |\n| a long cell | 4 |"),
        (".unknown macro\nshown", "shown"),
    ],
)  # fmt: skip
def test_macros(lines: str, shown: str) -> None:
    assert text_of(f".TH X 1\n{lines}\n") == f"# X(1)\n\n{shown}"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (r"\fBbold\fP \f(BIboth\fR \f[I]it\f[] \s-1small\s0 \s+2big\s0", "bold both it small big"),
        (r"a\-b\(enc\(emd\[hy]e", "a-b–c—d-e"),
        (r"\(bu \(co \(rg \[u20AC] \(Eu \(12", "• © ® € € ½"),
        (r"\e and \\ and a\ b and a\~b", "\\ and \\ and a b and a b"),
        (r"\&.dot a\|b\^c\%d\:e", ".dot abcde"),
        (r"\(aqquoted\(aq \(dqtoo\(dq \(ga \(ha \(ti", "'quoted' \"too\" ` ^ ~"),
        (r"\h'1n'x\v'2'y\w'abc'z\k(ab", " xyz"),
        (r"\o'ab'\zc\N'65'\C'em'", "abcA—"),
        (r"\m[red]x\m[]\M[blue]y\M[]", "xy"),
        (r"a \" comment", "a "),
        (r"\n(xx\n[yy]\nz.", "."),
        (r"\[e aa] \(:a \('e", " a\u0308 e\u0301"),
        ("\\", ""),
    ],
)
def test_escapes(line: str, shown: str) -> None:
    assert Roff().text(line) == shown


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("a b", ["a", "b"]),
        ('"a b" c', ["a b", "c"]),
        ('"say ""yes""" x', ['say "yes"', "x"]),
        (r"a\ b c", [r"a\ b", "c"]),
        (r"a \" comment", ["a"]),
        ('"open', ["open"]),
        ("", []),
    ],
)
def test_arguments(rest: str, words: list[str]) -> None:
    assert arguments(rest) == words


def test_a_page_in_mdoc() -> None:
    source = r""".Dd May 1, 2024
.Dt SSH 1
.Os
.Sh NAME
.Nm ssh
.Nd remote login client
.Sh SYNOPSIS
.Nm ssh
.Op Fl 46
.Op Fl b Ar address
.Ar destination
.Sh DESCRIPTION
.Nm
logs into
.Ar destination ,
see
.Xr ssh_config 5 .
.Pp
It uses
.Dq strong
ciphers
.Pq see Sx CIPHERS .
.Bl -tag -width Ds
.It Fl a
Disables it.
.It Fl D Xo
.Sm off
.Oo Ar host : Oc
.Ar port
.Sm on
.Xc
Specifies a port.
.Bl -bullet
.It
one
.It
two
.El
.El
.Bd -literal -offset indent
$ ssh a[0]
  done
.Ed
.Fn open "const char *path" "int flags"
.Bl -column a b
.It Em Item Ta Em Price
.It Bus Ta 3
.El
.Ex -std
"""
    reading = read_man(source, "ssh.1")
    assert reading.title == "SSH(1)"
    assert reading.text == (
        "# SSH(1)\n\n## NAME\n\nssh — remote login client\n\n## SYNOPSIS\n\n"
        "ssh [-46] [-b address] destination\n\n## DESCRIPTION\n\n"
        "ssh logs into destination, see ssh_config(5).\n\n"
        "It uses “strong” ciphers (see CIPHERS).\n\n"
        "- -a: Disables it.\n- -D [host:]port: Specifies a port.\n  - one\n  - two\n\n"
        "```\n$ ssh a[0]\n  done\n```\n\nopen(const char *path, int flags)\n\n"
        "| Item | Price |\n| --- | --- |\n| Bus | 3 |\n\n"
        "The ssh utility exits 0 on success, and >0 if an error occurs."
    )


def test_a_page_that_names_another_says_so() -> None:
    with pytest.raises(PageUnreadable, match=r"^x\.1 only points to the manual page man1/ls\.1; r"):
        text_of(".so man1/ls.1\n")


MARKS = st.sampled_from(
    [*"\\.'\"{}()[]*nfs \n\t", "\n.", "\n.if ", "\n.de x\n", "\\{", "\\*(", "\n.TS\n", "\n.Bl ",
     "\n.It ", "\n.Dd ", "Xo ", "Oo ", "Fl ", "Ns ", "word", "\n.TP\n", "\n.RS\n", "\n.ds a \\*a"]
)  # fmt: skip


@given(st.lists(MARKS, max_size=60).map("".join))
def test_any_text_is_read(source: str) -> None:
    try:
        read_man(source, "x.1")
    except PageUnreadable as error:
        assert "only points" in error.sentence  # noqa: PT017


def test_strings_of_strings_do_not_grow_without_end() -> None:
    names = "abcdefghijklmnop"
    steps = [f".ds {b} {f'{chr(92)}*{a}' * 10}" for a, b in pairwise(names)]
    source = "\n".join([".TH X 1", ".ds a words", *steps, "before", "\\*p"])
    assert len(text_of(source)) < 1_000_000
