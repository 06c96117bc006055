"""Arguments for tools of well-known servers, if their schema is not enough to determine them.

A tool that only needs a query, or only the id of a page, needs no entry: the names of its
parameters suffice (``QUERY``, ``ID``). An entry does not make a tool safe: the tool itself, or the
operator, must declare that it changes nothing (see ``bot.search.mcp.tools``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# The convention of OpenAI's connectors (https://platform.openai.com/docs/mcp), which the servers of
# Atlassian and Notion follow too.
SEARCH, FETCH = "search", "fetch"

# The names that servers use for the same parameter, likeliest first.
QUERY = (
    *("query", "q", "search_query", "searchQuery", "search_term", "searchTerm", "search", "text"),
    *("keywords", "keyword", "question", "term", "terms", "pattern", "input", "prompt"),
)
LIMIT = (
    *("limit", "max_results", "maxResults", "num_results", "numResults", "page_size", "pageSize"),
    *("per_page", "perPage", "count", "size", "top_k", "topK", "top", "first", "n"),
)
ID = (
    *("id", "ids", "page_id", "pageId", "issue_key", "issueKey", "issueIdOrKey", "issue_id"),
    *("file_id", "fileId", "document_id", "documentId", "doc_id", "key", "path", "names", "name"),
)
URL = ("url", "uri", "link")


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A search tool: its arguments, the tool that reads its results, and that tool's arguments."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    read: str = ""
    read_arguments: Mapping[str, Any] = field(default_factory=dict)


# fmt: off
KNOWN: Mapping[str, KnownTool] = {
    SEARCH: KnownTool(read=FETCH),
    # Notion's own server
    "notion-search": KnownTool(read="notion-fetch"),
    # Atlassian's own server; it also needs the site, as ``cloudId``
    "searchConfluenceUsingCql": KnownTool({"cql": 'text ~ "{query}"'}, "getConfluencePage"),
    "searchJiraIssuesUsingJql": KnownTool({"jql": 'text ~ "{query}"'}, "getJiraIssue"),
    # github.com/sooperset/mcp-atlassian
    "confluence_search": KnownTool(read="confluence_get_page"),
    "jira_search": KnownTool({"jql": 'text ~ "{query}"'}, "jira_get_issue"),
    # GitHub's own server: results include their text
    "search_issues": KnownTool(),
    "search_pull_requests": KnownTool(),
    # Servers for Google Drive
    "search_files": KnownTool(read="read_file_content"),
    "gdrive_search": KnownTool(read="gdrive_read_file"),
    # @modelcontextprotocol/server-memory
    "search_nodes": KnownTool(read="open_nodes"),
}
# fmt: on
