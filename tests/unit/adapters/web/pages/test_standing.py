"""Standing questions in the console: begun in a conversation's menu, listed, paused, stopped."""

from __future__ import annotations

import re

from tests.unit.adapters.web.conftest import Browser, OpenConsole
from tests.unit.adapters.web.pages.test_history import PROXY, asked, do


async def menu_of(browser: Browser, path: str) -> list[str]:
    page = (await browser.get(path)).text
    return re.findall(r'action="(/(?:runs|watches)/[0-9a-f]+/(?:watch|pause|resume|stop))"', page)


async def test_everybody_has_their_own_and_the_operator_sees_all(open_console: OpenConsole) -> None:
    here = await open_console(**PROXY)
    ann, bob = await here.browser(**{"X-User": "ann"}), await here.browser(**{"X-User": "bob"})
    root = await here.browser(**{"X-User": "root"})
    path = await asked(ann)
    (watch,) = await menu_of(ann, path)
    assert (await do(ann, watch, every="weekly")).startswith(path)
    assert "every week" in (await ann.get(path)).text
    assert await menu_of(bob, "/watches") == []
    pause, stop = await menu_of(ann, "/watches")
    assert await menu_of(root, "/watches") == [pause, stop]
    await bob.get("/")
    stolen = await bob.client.post(stop, data={"csrf": bob.csrf})
    assert stolen.status_code == 404
    await do(ann, pause)
    assert "paused" in (await ann.get("/watches")).text
    resume, _ = await menu_of(ann, "/watches")
    await do(ann, resume)
    await do(root, stop)
    assert await menu_of(ann, "/watches") == []
