"""All conversations: found, named, pinned, deleted whole, shared, exported; and why not helpful."""

from __future__ import annotations

import json
import re

import pytest

from adapters.web.pages import history
from tests.unit.adapters.web.conftest import FORM, Browser, OpenConsole, Running

QUESTION = "How tall is the tower?"
PROXY = {"console_user_header": "X-User", "admins": "root", "public_url": "http://127.0.0.1:8080"}


async def thread_of(browser: Browser, run: str) -> str:
    record = await browser.running.store.run(run)
    assert record is not None
    return f"/threads/{record.message.thread.thread}"


async def asked(browser: Browser, question: str = QUESTION) -> str:
    """The path of a conversation with an answer."""
    return await thread_of(browser, await browser.answered(question))


async def do(browser: Browser, path: str, **fields: str) -> str:
    """Send a form as a browser without scripts; where it leads."""
    answer = await browser.post(path, **fields)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def listed(browser: Browser, path: str = "/conversations") -> list[str]:
    page = main_of((await browser.get(path)).text)
    return re.findall(r'<a href="(/threads/[0-9a-f]+)">', page)


def main_of(page: str) -> str:
    """A page without its sidebar."""
    return page.partition("<main")[2]


async def test_all_conversations_are_reached_part_by_part(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.pages.history.THREADS_LISTED", 3)
    every = [await asked(browser, f"Question {n}?") for n in range(7)]
    found, path = list[str](), "/conversations"
    for _ in range(9):
        page = main_of((await browser.get(path)).text)
        found += re.findall(r'<a href="(/threads/[0-9a-f]+)">', page)
        older = re.search(r'href="(/conversations\?before=\d+)"', page)
        if older is None:
            break
        path = older[1]
    assert found == every[::-1]


@pytest.mark.parametrize("path", ["/", "/watches", "/corrections", "/handbook", "/overview"])
async def test_every_page_has_the_sidebar(browser: Browser, path: str) -> None:
    thread = await asked(browser)
    sidebar, _, page = (await browser.get(path)).text.partition("<main")
    assert f'<a href="{thread}">' in sidebar
    assert thread not in page


async def test_a_page_that_answers_a_form_has_it_too(browser: Browser) -> None:
    thread = await asked(browser)
    refused = await browser.post("/connect/discord", discord_token="")
    assert refused.status_code == 422
    assert f'<a href="{thread}">' in refused.text.partition("<main")[0]


async def test_the_sidebar_marks_the_page_that_is_open(browser: Browser) -> None:
    thread = await asked(browser)
    for path in (thread, "/conversations", "/watches", "/corrections"):
        sidebar = (await browser.get(path)).text.partition("</header>")[2].partition("<main")[0]
        assert re.findall(r'<a[^>]* href="([^"]+)" aria-current="page"', sidebar) == [path]


async def test_a_sidebar_that_was_closed_stays_closed(browser: Browser) -> None:
    assert '<details class="drawer" open>' in (await browser.get("/")).text
    browser.client.cookies.set("footnote_sidebar", "closed")
    assert '<details class="drawer">' in (await browser.get("/")).text


async def test_the_sidebar_shows_what_a_search_finds(browser: Browser) -> None:
    path = await asked(browser)
    assert path in (await browser.get("/conversations/list?q=tower")).text
    none = (await browser.get("/conversations/list?q=zeppelin")).text
    assert path not in none
    assert "No conversation has the words" in none


async def test_a_conversation_is_found_by_its_answer_and_shows_where(browser: Browser) -> None:
    path = await asked(browser)
    assert await listed(browser, "/conversations?q=tower") == [path]
    assert await listed(browser, "/conversations?q=zeppelin") == []
    assert "No conversation has the words" in (await browser.get("/conversations?q=zeppelin")).text


def test_the_words_that_were_found_are_shown_as_they_are_read() -> None:
    said = "# On towers\n\n- The *tower* was **finished** in `1889` [1].\n\nIt is tall [2]."
    assert history._snippet("finished", "", said) == "The tower was finished in 1889."


async def test_a_name_is_shown_found_and_taken_back(browser: Browser) -> None:
    path = await asked(browser)
    assert await do(browser, f"{path}/rename", title=" Of   towers <b> ") == path
    assert "<title>Of towers &lt;b&gt; · Footnote" in (await browser.get(path)).text
    assert await listed(browser, "/conversations?q=towers") == [path]
    await do(browser, f"{path}/rename", title="", back="list")
    assert f"<title>{QUESTION} · " in (await browser.get(path)).text


async def test_a_pinned_conversation_comes_first(browser: Browser) -> None:
    first, second = await asked(browser), await asked(browser)
    await do(browser, f"{first}/pin")
    assert await listed(browser) == [first, second]
    await do(browser, f"{first}/unpin")
    assert await listed(browser) == [second, first]


async def test_equal_titles_are_told_apart_by_their_dates(browser: Browser) -> None:
    await asked(browser)
    part = await browser.get("/conversations/list")
    assert "<time datetime" not in part.text
    await asked(browser)
    part = await browser.get("/conversations/list")
    assert part.text.count("<time datetime") == 2


async def test_days_are_those_of_the_reader(browser: Browser) -> None:
    await asked(browser)
    for offset in ("-60", "840", "x", "99999", "--1"):
        page = await browser.get("/conversations", Cookie=f"footnote_offset={offset}")
        assert page.status_code == 200
        assert "Today" in page.text


async def test_a_conversation_is_deleted_whole(browser: Browser) -> None:
    path, other = await asked(browser), await asked(browser)
    name = path.rpartition("/")[2]
    (link,) = re.findall(r'href="(/conversations/delete[^"]+)"', (await browser.get(path)).text)
    assert "Delete one conversation?" in (await browser.get(link)).text
    assert await do(browser, "/conversations/delete", thread=name) == "/conversations"
    assert await listed(browser) == [other]
    assert (await browser.get(path)).status_code == 404


async def test_several_conversations_are_deleted_once_their_number_was_confirmed(
    browser: Browser,
) -> None:
    first, second, third = [await asked(browser, f"Question {n}?") for n in range(3)]
    page = (await browser.get("/conversations?select=all")).text
    boxes = re.findall(r'name="thread\[\]" value="(\w+)" checked', page)
    assert [f"/threads/{name}" for name in boxes] == [third, second, first]
    chosen = "&".join(f"thread[]={path.rpartition('/')[2]}" for path in (first, second))
    asks = (await browser.get(f"/conversations/delete?{chosen}")).text
    assert "Delete 2 conversations?" in asks
    assert await listed(browser) == [third, second, first]
    sent = await browser.client.post("/conversations/delete", content=chosen, headers=FORM)
    assert sent.headers["location"] == "/conversations"
    assert await listed(browser) == [third]
    assert (await browser.get("/conversations/delete")).headers["location"] == "/conversations"


async def test_nobody_deletes_conversations_of_others_among_their_own(
    open_console: OpenConsole,
) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    theirs, own = await asked(ann), await asked(bob)
    names = [path.rpartition("/")[2] for path in (own, theirs)]
    query = "&".join(f"thread={name}" for name in names)
    assert (await bob.get(f"/conversations/delete?{query}")).status_code == 404
    sent = await bob.client.post("/conversations/delete", content=query, headers=FORM)
    assert sent.status_code == 404
    assert await listed(ann) == [theirs]
    assert await listed(bob) == [own]


async def test_after_its_last_question_is_deleted_a_new_one_begins(browser: Browser) -> None:
    run = await browser.answered()
    path = await thread_of(browser, run)
    again = await browser.answered("And how old?", thread=path.rpartition("/")[2])
    assert (await do(browser, f"/runs/{run}/delete")).startswith(path)
    assert "<title>And how old? · " in (await browser.get(path)).text
    assert await do(browser, f"/runs/{again}/delete") == "/"
    assert await listed(browser) == []


async def test_the_title_follows_an_edit(browser: Browser) -> None:
    run = await browser.answered()
    await do(browser, f"/runs/{run}/edit", question="How wide is it?")
    assert "How wide is it?" in (await browser.get("/conversations/list")).text


async def test_nobody_changes_the_conversations_of_others(open_console: OpenConsole) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    path = await asked(ann)
    await bob.get("/")
    for deed in ("rename", "pin", "unpin", "share", "unshare", "delete"):
        answer = await bob.post(f"{path}/{deed}")
        assert answer.status_code == 404
    assert await listed(bob) == []
    assert await listed(bob, "/conversations?q=tower") == []
    assert (await bob.get(f"{path}/export/md")).status_code == 404
    assert await listed(ann) == [path]


# ---------------------------------------------------------------- sharing


async def link_of(browser: Browser, path: str) -> str:
    await do(browser, f"{path}/share")
    found = re.search(r'value="http://[^"/]+(/shared/[\w-]+)"', (await browser.get(path)).text)
    assert found is not None
    return found[1]


async def test_a_link_shows_a_conversation_to_others_until_it_is_taken_back(
    open_console: OpenConsole,
) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    path = await asked(ann)
    link = await link_of(ann, path)
    page = await bob.get(link)
    assert QUESTION in page.text
    assert page.headers["x-robots-tag"] == "noindex, nofollow"
    assert '<meta name="robots" content="noindex' in page.text
    assert not re.search(r'action="/(?:runs|threads|ask)', page.text)  # nothing can be done
    run = re.search(r'data-run="([0-9a-f]+)"', page.text)
    assert run is not None
    assert (await bob.get(f"/runs/{run[1]}")).status_code == 200
    for form in ("md", "html", "bib", "csl"):
        assert (await bob.get(f"{link}/export/{form}")).status_code == 200
    assert (await bob.get(path)).status_code == 404
    await do(ann, f"{path}/unshare")
    assert (await bob.get(link)).status_code == 404
    assert (await bob.get(f"/runs/{run[1]}")).status_code == 404


async def test_sharing_leads_back_to_the_open_menu_with_the_link(browser: Browser) -> None:
    path = await asked(browser)
    back = await do(browser, f"{path}/share")
    menu = re.search(
        r'<details id="share"[^>]* open>.*?</details>', (await browser.get(back)).text, re.S
    )
    assert menu is not None
    assert 'id="link"' in menu[0]
    assert await do(browser, f"{path}/unshare") == path
    assert 'id="link"' not in (await browser.get(path)).text


async def test_a_script_is_told_what_was_done_and_gets_the_title_bar(browser: Browser) -> None:
    path = await asked(browser)
    told = await browser.send(f"{path}/rename", title="Towers")
    assert told.json() == {"told": "Renamed."}
    assert '<h1 id="title">Towers</h1>' in (await browser.get(f"{path}/bar")).text
    for deed, word in (("pin", "unpin"), ("unpin", "pin")):
        assert (await browser.send(f"{path}/{deed}")).json()["told"]
        assert f'action="{path}/{word}"' in (await browser.get(f"{path}/bar")).text
    assert (await browser.get("/threads/0000/bar")).status_code == 404


async def test_a_link_that_leads_nowhere_is_gone(browser: Browser) -> None:
    for token in ["none", "%00", "%F0%9F", "é"]:
        assert (await browser.get(f"/shared/{token}")).status_code == 404


# ---------------------------------------------------------------- exports


async def test_exports_hold_the_answer_with_its_quotes(browser: Browser) -> None:
    path = await asked(browser)
    html = await browser.get(f"{path}/export/html")
    assert "attachment" in html.headers["content-disposition"]
    assert "<script" not in html.text
    assert not re.search(r"(?:src|<link)[ =]", html.text)  # it stands alone
    for target in re.findall(r'href="#([^"]+)"', html.text):
        assert f'id="{target}"' in html.text
    markdown = (await browser.get(f"{path}/export/md")).text
    assert markdown.startswith(f"# {QUESTION}\n")
    items = json.loads((await browser.get(f"{path}/export/csl")).text)
    entries = (await browser.get(f"{path}/export/bib")).text
    assert len(items) == entries.count("@")
    assert (await browser.get(f"{path}/export/exe")).status_code == 404


# ---------------------------------------------------------------- feedback


async def test_who_was_not_helped_may_say_why(browser: Browser) -> None:
    run = await browser.answered()
    fields = {"verdict": "bad", "reason": "outdated", "words": " It is from 2019. "}
    assert (await browser.send(f"/runs/{run}/feedback", **fields)).status_code == 200
    page = await browser.get("/overview/feedback")
    assert "It is from 2019." in page.text
    assert "Outdated" in page.text
    assert f'href="/runs/{run}"' in page.text
    await browser.send(f"/runs/{run}/feedback", verdict="bad", reason="rude")
    assert "It is from 2019." not in (await browser.get("/overview/feedback")).text


async def test_only_operators_see_what_people_say(open_console: OpenConsole) -> None:
    here: Running = await open_console(**PROXY)
    bob = await here.browser(**{"X-User": "bob"})
    for path in ("/overview/feedback", "/overview/unanswered", "/overview/unanswered.csv"):
        assert (await bob.get(path)).status_code == 403
