"""Shortened pages of documentation generators, and the text read from them."""

# ruff: noqa: E501
# The markup has the lines that programs write.

from __future__ import annotations

import pytest

from bot.pages.markup import read_html

CONTENTS = (
    "<ul><li><a href='#a'>A</a></li><li><a href='#b'>B</a></li><li><a href='#c'>C</a></li></ul>"
)
LONG = "Words that make this page long enough to do without its table of contents, they say."

SPHINX = f"""<html><head><title>run — Running — Tool 1.2 documentation</title></head><body>
<div class="related" role="navigation"><ul><li>index</li></ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper">
<div class="body" role="main"><section id="run"><h1><code class="xref">run</code> — Running<a
class="headerlink" href="#run">¶</a></h1>
<nav class="contents local"><p class="topic-title">Contents</p>{CONTENTS}</nav><p>{LONG}</p>
<dl class="py function"><dt class="sig sig-object py" id="run.go"><span class="sig-prename">run.</span
><span class="sig-name descname"><span class="pre">go</span></span><span class="sig-paren">(</span
><em class="sig-param"><span class="n">*args</span></em><span class="sig-paren">)</span><a
class="headerlink" href="#run.go">¶</a></dt><dd><p>Goes. With:</p><div class="highlight"><pre
><span></span><span class="n">run</span><span class="o">.</span><span class="n">go</span>()
</pre></div><div class="versionchanged"><p><span class="versionmodified">New in 3.</span></p></div>
</dd></dl><div class="admonition note"><p class="admonition-title">Note</p><p>Not twice.</p></div>
</section></div></div></div><div class="sphinxsidebar" role="navigation">Quick search</div></div>
</body></html>"""

DOCBOOK = """<html><head><meta name="generator" content="DocBook XSL Stylesheets V1.79.2">
<title>20.1. Settings</title></head><body><div class="navheader"><table><tr><td>Prev</td></tr></table>
</div><div class="sect1"><div class="titlepage"><h2 class="title">20.1. Settings</h2></div>
<div class="variablelist"><dl class="variablelist"><dt><span class="term"><code class="varname"
>work_mem</code> (<code class="type">integer</code>) </span></dt><dd><p>Sets it. The default is
<code class="literal">4MB</code>.</p><p>More of it.</p></dd><dt><span class="term"><code
class="option">-q</code></span></dt><dt><span class="term"><code class="option">--quiet</code></span>
</dt><dd><p>Says less.</p></dd></dl></div>
<div class="tip" style="margin-left: 0.5in"><h3 class="title">Tip</h3><p>Try it.</p></div>
<p>After the box: <code class="command">SET <em class="replaceable"><code>name</code></em></code>.</p>
<pre class="programlisting">
SET work_mem = '8MB';
</pre></div><div class="navfooter">Next</div></body></html>"""

JAVADOC = """<html><head><meta name="generator" content="javadoc/HtmlDoclet"><title>Tide (Sea API)
</title></head><body><div class="flex-box"><header role="banner"><nav>Overview</nav></header>
<div class="flex-content"><main role="main"><div class="header"><h1 class="title">Class Tide</h1></div>
<section class="summary"><ul class="summary-list"><li><section class="method-summary"><h2>Method
Summary</h2><div class="summary-table two-column-summary"><div class="table-header col-first">Method
</div><div class="table-header col-last">Description</div><div class="col-first"><code>int <a
href="#at()">at</a>()</code></div><div class="col-last"><div class="block">The height.</div></div>
</div></section></li></ul></section><section class="details"><ul class="details-list"><li>
<section class="method-details"><h2>Method Details</h2><ul class="member-list"><li><section
class="detail" id="at()"><h3>at</h3><div class="member-signature"><span class="modifiers">public
</span>&nbsp;<span class="return-type">int</span>&nbsp;<span class="element-name">at</span>()</div>
<div class="block">The height.</div><dl class="notes"><dt>Returns:</dt><dd>it in <code>cm</code></dd>
</dl></section></li></ul></section></li></ul></section></main></div></div></body></html>"""

APACHE = """<html><head><title>mod_tide - Server Version 2.4</title></head><body id="module-page">
<div id="page-header"><p class="menu"><a href="a">Modules</a></p></div><div id="page-content">
<div id="preamble"><h1>Module mod_tide</h1><div class="toplang"><p>Languages: en</p></div></div>
<div class="directive-section"><h2>Tide Directive</h2><table class="directive"><tr><th><a
href="d">Description:</a></th><td>Sets it</td></tr><tr><th>Syntax:</th><td><code>Tide on|off</code>
</td></tr><tr><th>Default:</th><td><code>Tide off</code></td></tr></table><p>It matters.</p>
<div class="example"><p><code>Tide on<br>Moon full</code></p></div></div></div></body></html>"""

MAKEINFO = """<html><head><meta name="Generator" content="makeinfo"><title>Tides (Sea Manual 2.0)</title>
</head><body lang="en"><div class="header"><p>Next: <a href="m" accesskey="n">Moon</a>, Up: <a href="t"
accesskey="u">Top</a> [<a href="c">Contents</a>]</p></div><h3 class="section">2.1 Tides</h3><dl
class="def"><dt id="index-tide"><span class="category">Function: </span><strong>tide</strong>
<em>(x)</em><a class="copiable-anchor" href="#index-tide"> &para;</a></dt><dd><p>See <samp>x</samp>,
type <kbd>q</kbd>, in <var>dir</var>.</p></dd></dl><div class="example"><pre class="example">tide (3)
  &rArr; 4</pre></div></body></html>"""

MEDIAWIKI = f"""<html><head><meta name="generator" content="MediaWiki 1.39"><title>Ohm - My Wiki</title>
<script type="application/ld+json">{{"@type":"Article"}}</script></head><body><div id="content"
role="main"><h1 id="firstHeading">Ohm</h1><div id="siteSub">From My Wiki</div><div
id="mw-content-text"><table class="infobox"><tr><th colspan="2">Ohm</th></tr><tr><th>Symbol</th>
<td>Ω</td></tr><tr><th>Named after</th><td>Georg Ohm</td></tr></table><p>10<sup>6</sup> ohm<sup
class="reference"><a href="#n1">[1]</a></sup>.<br>A new line. {LONG}</p><div id="toc" class="toc"><h2
>Contents</h2>{CONTENTS}</div><h2><span class="mw-headline">Law</span><span class="mw-editsection">[<a
href="e">edit</a>]</span></h2><dl><dd><math><mi>V</mi><mo>=</mo><mi>R</mi><annotation
encoding="application/x-tex">V=R</annotation></math></dd></dl></div><div class="printfooter">From</div>
</div></body></html>"""

CONFLUENCE = """<html><head><title>Team : Release</title></head><body><div id="main"><div
id="breadcrumb-section"><ol id="breadcrumbs"><li>Team</li></ol></div><div id="content"><div
class="page-metadata">Created by Ann</div><div id="main-content" class="wiki-content group"><ol><li>
<p>Tag it:</p><div class="code panel"><pre class="syntaxhighlighter-pre">git tag -a v1</pre></div></li>
<li><p>Tell Bob</p></li></ol><div class="table-wrap"><table class="confluenceTable"><tbody><tr><th
><p>Env</p></th><th><p>Owners</p></th></tr><tr><td><p>prod</p></td><td><p>Ann</p><p>Bob</p></td></tr>
</tbody></table></div></div></div></div><div id="footer">Generated by Confluence</div></body></html>"""

NOTION = """<html><head><title>Onboarding</title></head><body><article id="5" class="page sans"><header
><h1 class="page-title">Onboarding</h1><table class="properties"><tbody><tr class="property-row"><th
>Owner</th><td>Ann</td></tr></tbody></table></header><div class="page-body"><p>Set <code>API_KEY</code>.
</p><ul class="toggle"><li><details open=""><summary>Laptop</summary><p>Ask IT.</p></details></li></ul>
<ol type="1" class="numbered-list" start="2"><li>Second</li></ol></div></article></body></html>"""

DOCUSAURUS = """<html><head><meta name="generator" content="Docusaurus v3"><title>Install | Site</title>
</head><body><nav class="navbar">Docs</nav><main><article><nav class="breadcrumbs">Home</nav><div
class="theme-doc-markdown markdown"><header><h1>Install</h1></header><pre class="prism-code"><code><span
class="token-line">npx a<br></span><span class="token-line">cd b<br></span></code></pre><h2>Options<a
href="#options" class="hash-link">&#8203;</a></h2><div class="admonition alert"><div
class="admonitionHeading_x"><svg></svg>tip</div><p>Use 18.</p></div></div><footer>Edit</footer></article>
</main></body></html>"""


@pytest.mark.parametrize(
    ("html", "title", "text"),
    [
        (SPHINX, "run — Running", f"""# `run` — Running

{LONG}

- `run.go(*args)`: Goes. With:

```
run.go()
```

  New in 3.

Note:

Not twice."""),
        (DOCBOOK, "20.1. Settings", """## 20.1. Settings

- `work_mem` (`integer`): Sets it. The default is `4MB`.
  More of it.
- `-q`, `--quiet`: Says less.

Tip:

Try it.

After the box: `SET name`.

```
SET work_mem = '8MB';
```"""),
        (JAVADOC, "Class Tide", """# Class Tide

## Method Summary

| Method | Description |
| --- | --- |
| `int at()` | The height. |

## Method Details

### at

`public int at()`

The height.

- Returns: it in `cm`"""),
        (APACHE, "Module mod_tide", """# Module mod_tide

## Tide Directive

- Description: Sets it
- Syntax: `Tide on|off`
- Default: `Tide off`

It matters.

```
Tide on
Moon full
```"""),
        (MAKEINFO, "Tides", """### 2.1 Tides

- Function: tide (x): See `x`, type `q`, in dir.

```
tide (3)
  ⇒ 4
```"""),
        (MEDIAWIKI, "Ohm", f"""Ohm

- Symbol: Ω
- Named after: Georg Ohm

10^6 ohm.
A new line. {LONG}

## Law

  V=R"""),
        (CONFLUENCE, "Team : Release", """1. Tag it:

```
git tag -a v1
```

2. Tell Bob

| Env | Owners |
| --- | --- |
| prod | Ann Bob |"""),
        (NOTION, "Onboarding", """# Onboarding

- Owner: Ann

Set `API_KEY`.

- Laptop:
  Ask IT.

2. Second"""),
        (DOCUSAURUS, "Install", """# Install

```
npx a
cd b
```

## Options

tip:

Use 18."""),
    ],
    ids=["sphinx", "docbook", "javadoc", "apache", "makeinfo", "mediawiki", "confluence", "notion",
         "docusaurus"],
)  # fmt: skip
def test_the_content_is_read_whole_and_nothing_else(html: str, title: str, text: str) -> None:
    reading = read_html(html, "x")
    assert reading.text == text
    assert reading.title == title
    assert reading.kept > 0.95
