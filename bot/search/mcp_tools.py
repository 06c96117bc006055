"""Chooses which tools of a server are called, and their arguments.

Tools that change anything are never called. A tool named by the operator must not declare that it
changes something; other tools must declare that they do not (``readOnlyHint``), those of ``KNOWN``
included. A tool that only needs a query, or only the id of a page, needs no entry there: the names
of its parameters suffice (``QUERY``, ``ID``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.core.errors import Broken
from bot.core.readership import McpServer
from bot.core.texts import Sentence, said

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


_PLACE = re.compile(r"\{(query|limit|id|url)\}")
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"'})
NAMED = 12  # tools named in a sentence


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as listed by its server. ``reads_only`` is its declaration, None if it has none."""

    name: str
    reads_only: bool | None
    parameters: Mapping[str, Any]  # JSON schema of each
    required: tuple[str, ...]

    @classmethod
    def of(cls, tool: Any) -> OfferedTool:
        """Convert a ``mcp_types.Tool``, whose schema may contain anything."""
        schema = tool.input_schema if isinstance(tool.input_schema, dict) else {}
        properties, required = schema.get("properties"), schema.get("required")
        hints = tool.annotations
        says = hints.read_only_hint if hints is not None else None
        if hints is not None and says is not True and hints.destructive_hint:
            says = False
        return cls(
            tool.name,
            says,
            {str(k): v for k, v in properties.items()} if isinstance(properties, dict) else {},
            tuple(map(str, required)) if isinstance(required, list) else (),
        )


@dataclass(frozen=True, slots=True)
class Use:
    """A tool with its arguments, which may contain placeholders."""

    tool: str
    arguments: Mapping[str, Any]

    def filled(self, **values: Any) -> dict[str, Any]:
        """Return the arguments with placeholders replaced by ``values``. A value inside a longer
        text is escaped as in double quotes, for query languages."""
        found: dict[str, Any] = _filled(dict(self.arguments), values)
        return found


@dataclass(frozen=True, slots=True)
class Uses:
    """The tools of a server to call, and ``remarks`` for its operator on those left out."""

    searches: tuple[Use, ...]
    read: Use | None
    remarks: tuple[str, ...] = ()


def uses_of(server: McpServer, offered: Sequence[OfferedTool]) -> Uses:
    """Choose a server's tools. Raises ``Broken``, which says what to do, if nothing can be
    searched."""
    tools = {each.name: each for each in offered}
    remarks: list[str] = []
    searches: list[Use] = []
    for name in server.search or _likely(tools):
        if problem := _problem(name, tools, server):
            remarks.append(problem)
            continue
        known = KNOWN.get(name, KnownTool())
        use, missing = _use(tools[name], server.arguments.get(name, known.arguments), "query")
        if missing:
            remarks.append(missing)
        else:
            searches.append(use)
    if not searches:
        why: Sentence = " ".join(remarks) or said("mcp-no-search", names=_names(tools))
        raise Broken(said("sentences", first=why, next=said("mcp-name-one")))
    read, remark = _read(server, tools, searches)
    return Uses(tuple(searches), read, (*remarks, *filter(None, [remark])))


def _likely(tools: Mapping[str, OfferedTool]) -> list[str]:
    """Return the search tools if the operator named none: the conventional one, or else known ones,
    or else those with "search" in their names."""
    if SEARCH in tools:
        return [SEARCH]
    known = [name for name in tools if name in KNOWN]
    return known or [
        name
        for name, tool in tools.items()
        if "search" in name.lower()
        and tool.reads_only
        and not set(QUERY).isdisjoint(tool.parameters)
    ]


def _problem(name: str, tools: Mapping[str, OfferedTool], server: McpServer) -> str:
    if name not in tools:
        return f"It has no tool {name}: {_names(tools)}."
    says = tools[name].reads_only
    if says is False:
        return f"Its tool {name} says that it changes something, and is not called."
    if says is None and name not in (*server.search, server.read):
        return (
            f"Its tool {name} does not say that it changes nothing: name it in [[mcp]] if you know "
            "that."
        )
    return ""


def _read(
    server: McpServer, tools: Mapping[str, OfferedTool], searches: Sequence[Use]
) -> tuple[Use | None, str]:
    known = next((found for each in searches if (found := KNOWN.get(each.tool))), KnownTool())
    name = server.read or (known.read if known.read in tools else "")
    if not name:
        needed = "It reads no pages, which its `links` need: name a tool in `read` of [[mcp]]."
        return None, needed if server.links else ""
    if problem := _problem(name, tools, server):
        return None, problem
    use, missing = _use(tools[name], server.arguments.get(name, known.read_arguments), "id")
    return (None, missing) if missing else (use, "")


def _use(tool: OfferedTool, given: Mapping[str, Any], what: str) -> tuple[Use, str]:
    """Return a tool with its arguments, or the reason why it cannot be called."""
    arguments = dict(given)
    places = {place for value in _texts(arguments) for place in _PLACE.findall(value)}
    if what == "query" and "query" not in places:
        if (name := _parameter(tool, QUERY, arguments)) is None:
            return Use(tool.name, {}), _unclear(tool, "query")
        arguments[name] = _as_asked(tool, name, "{query}")
        for limit in LIMIT:
            if limit in tool.parameters and limit not in arguments:
                arguments[limit] = "{limit}"
                break
    if what == "id" and places.isdisjoint(("id", "url")):
        if (name := _parameter(tool, (*ID, *URL), arguments)) is None:
            return Use(tool.name, {}), _unclear(tool, "id")
        arguments[name] = _as_asked(tool, name, "{url}" if name in URL else "{id}")
    missing = [name for name in tool.required if name not in arguments]
    if missing:
        return Use(tool.name, {}), (
            f"Its tool {tool.name} also wants {', '.join(missing)}: give it in "
            f"[mcp.arguments.{tool.name}]."
        )
    return Use(tool.name, arguments), ""


def _parameter(tool: OfferedTool, names: Sequence[str], given: Mapping[str, Any]) -> str | None:
    """Return the parameter for the query or the id: by its name, or else the only required one."""
    named = [name for name in names if name in tool.parameters and name not in given]
    needed = [name for name in tool.required if name not in given]
    if one := next((name for name in named if name in needed), None):
        return one
    return needed[0] if len(needed) == 1 else next(iter(named), None)


def _as_asked(tool: OfferedTool, name: str, place: str) -> Any:
    """Return a list of one item if the tool needs a list."""
    schema = tool.parameters.get(name)
    is_list = isinstance(schema, dict) and schema.get("type") == "array"
    return [place] if is_list else place


def _unclear(tool: OfferedTool, what: str) -> str:
    return (
        f"It is not clear which argument of its tool {tool.name} is the {what}: write "
        f"{{{what}}} into [mcp.arguments.{tool.name}]."
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, values) for each in value]
    if not isinstance(value, str):
        return value
    whole = _PLACE.fullmatch(value)
    if whole and whole[1] in values:
        return values[whole[1]]
    put: Callable[[re.Match[str]], str] = lambda found: str(  # noqa: E731
        values.get(found[1], "")
    ).translate(_ESCAPED)
    return _PLACE.sub(put, value)


def _names(tools: Mapping[str, OfferedTool]) -> str:
    names = [*tools][:NAMED]
    return f"its tools are {', '.join(names)}" if names else "it lists no tools"
