"""Results as servers send them, and the arguments with which their tools are called."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest

from bot.core.reader import mcp_address, mcp_id, public, server_of
from bot.core.readership import McpServer
from bot.search.mcp_source import results_of, text_of
from bot.search.mcp_tools import OfferedTool, uses_of


def said(*told: Any, structured: Any = None) -> types.CallToolResult:
    """A result with these texts; other values are sent as JSON."""
    texts = [each if isinstance(each, str) else json.dumps(each) for each in told]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts],
        structured_content=structured,
    )


JIRA = {
    "total": 1,
    "issues": [
        {
            "id": "10001",
            "key": "OPS-7",
            "summary": "Backup of the harbour",
            "description": "It runs at 03:40.",
            "url": "https://jira.example/browse/OPS-7",
            "status": {"name": "Open"},
        }
    ],
}
JIRA_CLOUD = {
    "issues": {
        "nodes": [
            {
                "key": "OPS-7",
                "webUrl": "https://jira.example/browse/OPS-7",
                "fields": {"summary": "Backup of the harbour", "description": "It runs at 03:40."},
            }
        ]
    }
}
CONFLUENCE = [
    {
        "id": "77",
        "title": "Backup of the harbour",
        "url": "https://wiki.example/77",
        "space": {"key": "OPS", "name": "Operations"},
        "content": {"value": "It runs at 03:40.", "format": "view"},
    }
]
GITHUB = {
    "total_count": 1,
    "items": [
        {
            "number": 7,
            "html_url": "https://github.example/ops/7",
            "title": "Backup of the harbour",
            "body": "It runs at 03:40.",
            "user": {"login": "anna", "html_url": "https://github.example/anna"},
        }
    ],
}
NOTION = {
    "results": [
        {
            "id": "n-7",
            "title": "Backup of the harbour",
            "url": "https://notion.example/n-7",
            "highlight": "It <b>runs</b> at 03:40.",
        }
    ],
    "type": "workspace_search",
}
MEMORY = {
    "entities": [{"name": "Backup of the harbour", "observations": ["It runs at 03:40."]}],
    "relations": [],
}


@pytest.mark.parametrize(
    ("returned", "id", "url"),
    [
        (said(JIRA), "OPS-7", "https://jira.example/browse/OPS-7"),
        (said(JIRA_CLOUD), "OPS-7", "https://jira.example/browse/OPS-7"),
        (said(CONFLUENCE), "77", "https://wiki.example/77"),
        (said(GITHUB), "7", "https://github.example/ops/7"),
        (said(NOTION), "n-7", "https://notion.example/n-7"),
        (said("ignored", structured=MEMORY), "Backup of the harbour", ""),
        (said({"result": json.dumps(CONFLUENCE)}), "77", "https://wiki.example/77"),
    ],
)
def test_a_result_is_found_under_the_names_that_servers_have_for_its_parts(
    returned: Any, id: str, url: str
) -> None:
    (found,) = results_of(returned)
    assert (found.id, found.title, found.url) == (id, "Backup of the harbour", url)
    assert "at 03:40" in found.snippet


@pytest.mark.parametrize(
    "told", ["No matches found", "[]", '{"entities": [], "relations": []}', "", "{not json"]
)
def test_nothing_found_is_no_result(told: str) -> None:
    assert results_of(said(told)) == []


def test_json_of_endless_depth_is_words() -> None:
    assert len(results_of(said("[" * 100_000))) == 1


def test_plain_words_are_one_result_and_a_list_of_paths_one_for_each() -> None:
    words = "The backup of the harbour\nIt runs at 03:40."
    (one,), (again,) = results_of(said(words)), results_of(said(words))
    assert (one.title, one.text) == ("The backup of the harbour", words)
    assert one.id == again.id  # a stable one
    paths = results_of(said("/srv/a.md\n/srv/b.md", structured={"content": "/srv/a.md\n/srv/b.md"}))
    assert [each.id for each in paths] == ["/srv/a.md", "/srv/b.md"]


def test_what_a_tool_reads_is_its_text_whatever_it_is_wrapped_in() -> None:
    read = text_of(
        said({"id": "7", "title": "Backup", "text": "It runs at 03:40.", "url": ""}), "7"
    )
    assert read is not None
    assert (read.title, read.text) == ("Backup", "It runs at 03:40.")
    plain = text_of(said("# Backup\n\nIt runs at 03:40."), "7")
    assert plain is not None
    assert plain.text == "# Backup\n\nIt runs at 03:40."
    assert text_of(said(), "7") is None


@pytest.mark.parametrize("url", ["https://jira.example/browse/OPS-7?a=b#c", ""])
def test_an_address_leads_back_to_the_server_its_id_and_the_web(url: str) -> None:
    made = mcp_address("jira", "a/b ü?#7", url)
    assert (server_of(made), mcp_id(made), public(made)) == ("jira", "a/b ü?#7", url)
    assert made.isascii()


# ---------------------------------------------------------------- arguments


def tool(name: str, required: tuple[str, ...], *others: str) -> OfferedTool:
    parameters = {each: {"type": "string"} for each in (*required, *others)}
    return OfferedTool(name, True, parameters, required)


def server(**more: Any) -> McpServer:
    return McpServer(name="jira", url="https://mcp.example/mcp", everybody=True, **more)


def test_words_cannot_leave_the_query_language_that_they_are_put_into() -> None:
    offered = [tool("jira_search", ("jql",), "limit"), tool("jira_get_issue", ("issue_key",))]
    uses = uses_of(server(), offered)
    asked = uses.searches[0].filled(query='x" OR project = SECRET \\', limit=5)
    assert asked == {"jql": 'text ~ "x\\" OR project = SECRET \\\\"'}
    assert uses.read is not None
    assert uses.read.filled(id="OPS-7", url="") == {"issue_key": "OPS-7"}


def test_links_want_a_tool_that_reads() -> None:
    offered = [tool("search", ("query",))]
    assert uses_of(server(), offered).remarks == ()
    (remark,) = uses_of(server(links=("https://jira.example/",)), offered).remarks
    assert "It reads no pages, which its `links` need" in remark


def test_arguments_are_told_by_their_names_and_the_operator_gives_the_others() -> None:
    wanting = [tool("search", ("cloudId", "searchText"), "maxResults")]
    given = server(arguments={"search": {"cloudId": "example"}})
    (use,) = uses_of(given, wanting).searches
    assert use.filled(query="keys", limit=5) == {
        "cloudId": "example",
        "searchText": "keys",
        "maxResults": 5,
    }
