"""The fake's default brain: it plays the researcher's protocol over whatever it is shown.

It knows nothing but what the request holds: the question, the schema or tools it is given, and
what the tools returned. It rewrites into the schema, searches with keywords, reads the two best
hits, finishes with findings, and writes sentences that cite the passages they are taken from.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.fakes.claude_replies import Block, Reply, citation, cited, says, text, thinking, tool
from tests.fakes.claude_requests import (
    CJK,
    PAGE,
    asked_last,
    desk_pages,
    keywords,
    overlap_of,
    search_results,
    tagged,
    user_texts,
)
from tests.fakes.pictures import seen

PAGES_READ = 2
PARTS = 12
SENTENCES = 6
EXCERPT = 400  # characters
CITED_IN_PARAGRAPH = 3  # passages
GREETING = re.compile(r"\s*(hi|hello|hey|thanks|thank you|good morning)\b[^?]{0,30}$", re.I)
PARTED = re.compile(r"\?|;|,? and (?=in|when|who|where|what|which|how|then)\b", re.I)
ABOUT_ALL = re.compile(r"\b(?:summari[sz]e|sum up|compare)\b|总结|比较", re.I)
URL = re.compile(r"https?://[^\s<>()]+")
HIT = re.compile(r"^(\d+)\. (.*)$", re.M)
OPEN = "(open)"  # at the end of a hit's line
SENTENCE = re.compile(r'<sentence number="(\d+)" quotes="([^"]*)"[^>]*>\n(.*?)\n</sentence>', re.S)


def researcher(request: Mapping[str, Any]) -> Reply:
    """Answer any request of ours in the way its shape asks for."""
    wanted = (request.get("output_config") or {}).get("format")
    names = {t["name"] for t in request.get("tools") or ()}
    fields = _fields(request)
    if fields == {"paragraphs"}:
        return _draft(request)
    if "nodes" in fields:
        return _plan(request)
    if fields == {"queries"}:
        return _queries(request)
    if fields == {"verdicts"}:
        return _verify(request)
    if fields == {"pictures"}:
        return _see(request)
    if fields == {"statements"}:
        return _statements(request)
    if fields == {"sentences"}:
        return _restate(request)
    if fields == {"pairs"}:
        return _compare(request)
    if fields == {"reason", "grade"}:
        return _judge(request)
    if wanted:
        return _rewrite(request, wanted["schema"])
    if {"search", "read", "finish"} <= names:
        return _loop(request)
    if "<draft" in asked_last(request):
        return _revise(request)
    if search_results(request) or "<question" in asked_last(request):
        return _write(request)
    if '"kind"' in json.dumps(request.get("system") or ""):
        return _rewrite(request, None)
    return says("I see: " + asked_last(request)[-200:].strip())


def _fields(request: Mapping[str, Any]) -> set[str]:
    """The fields of the JSON that is asked for."""
    wanted = (request.get("output_config") or {}).get("format")
    return set(wanted["schema"].get("properties") or ()) if wanted else set()


# ---------------------------------------------------------------- rewrite


def _rewrite(request: Mapping[str, Any], schema: Mapping[str, Any] | None) -> Reply:
    """A rewriting: what differs from the message and the defaults, and what a schema demands."""
    asked = asked_last(request)
    message = (tagged(asked, "new_message") or asked).strip()
    earlier = re.findall(r'question="([^"]+)"', asked)
    question = message
    if earlier and (
        len(keywords(message)) < 3 or re.match(r"\W*(and|what about)\b", message, re.I)
    ):
        question = f"{message.rstrip('?')} ({' '.join(keywords(earlier[-1]))})?"
    shows = tagged(asked, "picture")
    if shows and len(keywords(message)) < 3:  # "what does this error mean?"
        question = f"{message.rstrip('?')} ({' '.join(keywords(shows))})?"
    links = URL.findall(message)
    kind = "chat" if GREETING.match(message) else "links" if links else "search"
    answer: dict[str, Any] = {"kind": kind}
    if question != message:
        answer["question"] = question
    if kind == "search":
        answer["queries"] = [" ".join(keywords(question))]
    if links:
        answer["links"] = links
    if kind == "links" and ABOUT_ALL.search(message):
        answer["whole"] = True
    if kind == "chat":
        answer["reply"] = "Hello! What would you like to know?"
    if schema is not None:
        required = schema.get("required") or ()
        answer = {
            name: answer.get(name, _filler(rule))
            for name, rule in _properties(schema)
            if name in answer or name in required
        }
    return says(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def _properties(schema: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return list((schema.get("properties") or {}).items())


def _filler(rule: Mapping[str, Any]) -> Any:
    """Some value that a schema allows."""
    if "const" in rule:
        return rule["const"]
    if rule.get("enum"):
        return rule["enum"][0]
    if rule.get("anyOf"):
        return _filler(rule["anyOf"][0])
    match rule.get("type"):
        case "object":
            return {name: _filler(part) for name, part in _properties(rule)}
        case "array":
            return [_filler(rule["items"])] if rule.get("minItems") else []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case "null":
            return None
        case _:
            return ""


def _see(request: Mapping[str, Any]) -> Reply:
    """What each picture of the request shows, read from its pixels."""
    blocks = request["messages"][0]["content"]
    images = [block["source"]["data"] for block in blocks if block["type"] == "image"]
    told = [
        {"picture": number, "text": seen(base64.b64decode(data))}
        for number, data in enumerate(images, start=1)
    ]
    return says(json.dumps({"pictures": told}, ensure_ascii=False))


# ---------------------------------------------------------------- the plan


def _plan(request: Mapping[str, Any]) -> Reply:
    """A node for each part of the question; one that begins with "then" needs the one before.

    Whatever comes of them, the plan is not extended.
    """
    question = tagged("\n".join(user_texts(request)), "question") or ""
    subject = " ".join(w for w in keywords(question) if w[0].isupper() or CJK.search(w))
    parts = [part.strip(" ?.,") for part in PARTED.split(question)]
    nodes: list[dict[str, Any]] = []
    if not any(m["role"] == "assistant" for m in request["messages"]):
        for part in [part for part in parts if part][:PARTS]:
            whole = part if all(w in part for w in subject.split()) else f"{part} ({subject})"
            then = bool(nodes) and part.lower().startswith("then ")
            nodes.append(
                {
                    "id": chr(ord("a") + len(nodes)),
                    "question": f"{whole}?",
                    "needs": [nodes[-1]["id"]] if then else [],
                    "queries": [" ".join(keywords(whole)[:6])],
                }
            )
    plan = {"nodes": nodes, "done": True, "missing": []}
    return says(json.dumps(plan, ensure_ascii=False))


# ---------------------------------------------------------------- the loop


def _loop(request: Mapping[str, Any]) -> Reply:
    shown = "\n".join(user_texts(request))
    question = tagged(shown, "question") or shown
    turns = sum(m["role"] == "assistant" for m in request["messages"])
    pages = desk_pages(request)
    asked = [
        block
        for m in request["messages"]
        if m["role"] == "assistant" and not isinstance(m["content"], str)
        for block in m["content"]
        if block["type"] == "tool_use"
    ]
    tried = {q for b in asked if b["name"] == "search" for q in b["input"].get("queries", ())}
    chosen = {i for b in asked if b["name"] == "read" for i in b["input"].get("ids", ())}
    thoughts: list[Block] = []
    if (request.get("thinking") or {}).get("type") == "adaptive":
        thoughts = [thinking(f"Turn {turns}: {len(pages)} pages on the desk.")]

    hits = [(int(n), words) for n, words in HIT.findall(shown)]
    fresh = [n for n, words in hits if not words.endswith(OPEN) and n not in chosen]
    if not pages and fresh and len(chosen) < 2 * PAGES_READ:
        ids = list(dict.fromkeys(fresh))[:PAGES_READ]
        return says(*thoughts, "The first hits look right.", _call("read", {"ids": ids}, turns))
    words = keywords(question)
    wordings = [" ".join(words[:6]), " ".join(words[:3])]
    query = next((w for w in wordings if w and w not in tried), "")
    if not pages and query and not chosen:
        return says(*thoughts, _call("search", {"queries": [query]}, turns))
    return says(*thoughts, _call("finish", _conclusion(question, pages), turns))


def _call(name: str, arguments: Mapping[str, Any], turn: int) -> Block:
    return tool(name, arguments, f"toolu_{turn:02}_{name}")


def _conclusion(question: str, pages: Mapping[int, str]) -> dict[str, Any]:
    """Every page carries the answer; the best sentence of each is a finding."""
    findings = [
        {"text": _best_sentence(question, body), "pages": [number]}
        for number, body in pages.items()
    ]
    return {
        "use": [str(number) for number in pages],
        "enough": bool(findings),
        "missing": [] if findings else [question.strip()],
        "findings": findings,
        "answer": "",
    }


def _best_sentence(question: str, body: str) -> str:
    wanted = {w.lower() for w in keywords(question)}
    sentences = [
        s.strip() for s in re.split(r"(?<=[.!?。！？])\s*|\n+", body) if len(s.strip()) > 20
    ]
    return max(sentences, key=lambda s: overlap_of(wanted, s), default=body.strip()[:200])[:240]


def _excerpt(question: str, passage: str) -> str:
    """The passage if it is short, else its best sentence and what follows, without headings."""
    words = re.sub(r"^§[^\n]*\n?", "", passage, flags=re.M).strip()
    if len(words) <= EXCERPT:
        return words
    best = _best_sentence(question, words)
    rest = words[words.find(best) :][:EXCERPT]
    return rest[: rest.rfind(". ") + 1] or best


# ---------------------------------------------------------------- the answer


def _write(request: Mapping[str, Any]) -> Reply:
    asked = "\n".join(user_texts(request))
    question = tagged(asked, "question") or ""
    wanted = {w.lower() for w in keywords(question)}
    blocks: list[Block] = []
    results = search_results(request)
    if results and (results[0].get("citations") or {}).get("enabled"):
        passages = [
            (overlap_of(wanted, part["text"]), number, at, part["text"], result)
            for number, result in enumerate(results)
            for at, part in enumerate(result["content"])
        ]
        for _, number, at, words, result in sorted(passages, key=lambda p: -p[0])[:SENTENCES]:
            where = citation(number, at, at + 1, source=result["source"], title=result["title"])
            where["cited_text"] = words
            blocks += [cited(_excerpt(question, words), where), text(" ")]
    else:
        for page, body in PAGE.findall(asked)[:SENTENCES]:
            blocks.append(text(f"{_excerpt(question, body)} [{page}] "))
    missing = tagged(asked, "missing")
    if not blocks:
        blocks.append(text("I found nothing that answers this."))
    if missing:
        blocks.append(text("\n\n> Not found: " + " ".join(missing.split())))
    return Reply(tuple(blocks))


# ---------------------------------------------------------------- a report


def _draft(request: Mapping[str, Any]) -> Reply:
    """A paragraph for the question, and one for each page of the first look (at least two)."""
    asked = "\n".join(user_texts(request))
    question = (tagged(asked, "question") or asked).strip()
    topic = " ".join(keywords(question)[:3])
    pages = re.findall(r'<page number="\d+" title="([^"]*)"', asked)
    headings = ["", *(dict.fromkeys(pages or ["Background"])), "Open questions"][:8]
    paragraphs = [
        {
            "heading": heading,
            "purpose": f"What there is to know about {heading or topic}.",
            "text": f"{heading or topic} began in 1066 with a plan that nobody had foreseen.",
        }
        for heading in headings
    ]
    return says(json.dumps({"paragraphs": paragraphs}, ensure_ascii=False))


def _queries(request: Mapping[str, Any]) -> Reply:
    asked = "\n".join(user_texts(request))
    question = tagged(asked, "question") or ""
    heading = re.search(r'<draft heading="([^"]*)"', asked)
    words = [*(keywords(heading[1])[:3] if heading else ()), *keywords(question)[:3]]
    return says(json.dumps({"queries": [" ".join(dict.fromkeys(words))]}, ensure_ascii=False))


def _judge(request: Mapping[str, Any]) -> Reply:
    """By how many words of the expected answer the given one has."""
    asked = asked_last(request)
    wanted = {w.lower() for w in keywords(tagged(asked, "expected_answer") or "")}
    found = overlap_of(wanted, tagged(asked, "given_answer") or "")
    grade = "right" if found == len(wanted) else "partly" if found else "wrong"
    reason = f"{found} of {len(wanted)} words are there."
    return says(json.dumps({"reason": reason, "grade": grade}))


def paraphraser(request: Mapping[str, Any]) -> Reply:
    """As ``researcher``, but what it cites does not stand word for word in its quotes."""
    reply = researcher(request)
    return replace(reply, content=tuple(map(_paraphrased, reply.content)))


def _paraphrased(block: Block) -> Block:
    return {**block, "text": f"As it says, {block['text']}"} if block.get("citations") else block


def doubter(request: Mapping[str, Any]) -> Reply:
    """As ``paraphraser``, but it finds no sentence supported, and none to put in other words."""
    if _fields(request) == {"verdicts"}:
        said = [
            {"sentence": int(number), "verdict": "not_supported", "words": "", "quotes": []}
            for number, _, _ in SENTENCE.findall(asked_last(request))
        ]
        return says(json.dumps({"verdicts": said}))
    if _fields(request) == {"sentences"}:
        return says(json.dumps({"sentences": []}))
    return paraphraser(request)


def _verify(request: Mapping[str, Any]) -> Reply:
    """By how many words of a sentence its quotes have."""
    asked = asked_last(request)
    quotes = dict(re.findall(r'<quote number="(\d+)"[^>]*>\n(.*?)\n</quote>', asked, re.S))
    said = []
    for number, cites, sentence in SENTENCE.findall(asked):
        words = {w.lower() for w in keywords(sentence)}
        own = [quotes[each] for each in cites.split(", ")] if cites else list(quotes.values())
        found = overlap_of(words, " ".join(own))
        verdict = "supported" if 2 * found >= len(words) else "not_supported"
        said.append({"sentence": int(number), "verdict": verdict, "words": "", "quotes": []})
    return says(json.dumps({"verdicts": said}))


def _statements(request: Mapping[str, Any]) -> Reply:
    """Each sentence, as it stands, searched for by its keywords."""
    said = [
        sentence.strip() for sentence in (tagged(asked_last(request), "draft") or "").split(". ")
    ]
    stated = [
        {"text": each, "alone": each, "queries": [" ".join(keywords(each)[:6])]}
        for each in said
        if each
    ]
    return says(json.dumps({"statements": stated}, ensure_ascii=False))


def _restate(request: Mapping[str, Any]) -> Reply:
    """Each sentence becomes the first one of what it cites."""
    asked = asked_last(request)
    quotes = dict(re.findall(r'<quote number="(\d+)"[^>]*>\n(.*?)\n</quote>', asked, re.S))
    said = [
        {
            "sentence": int(number),
            "text": quotes[cites.split(", ")[0]].split(". ")[0],
            "quotes": [int(cites.split(", ")[0])],
        }
        for number, cites in re.findall(r'<sentence number="(\d+)" quotes="([^"]*)"', asked)
    ]
    return says(json.dumps({"sentences": said}))


def _compare(request: Mapping[str, Any]) -> Reply:
    """Two sentences say the same if one has all the words of the other."""
    said = []
    for number, pair in re.findall(
        r'<pair number="(\d+)">\n(.*?)\n</pair>', asked_last(request), re.S
    ):
        before, now = (
            set(re.findall(r"\w+", (tagged(pair, name) or "").lower()))
            for name in ("before", "now")
        )
        said.append({"pair": int(number), "same": before <= now or now <= before})
    return says(json.dumps({"pairs": said}))


def _revise(request: Mapping[str, Any]) -> Reply:
    """The passages on the paragraph's topic that the report does not have yet, each cited; for an
    opening, of those that it has."""
    asked = "\n".join(user_texts(request))
    report = " ".join(re.findall(r"<report>\n(## .*?)\n</report>", asked, re.S))
    heading = re.search(r'<draft heading="([^"]*)"', asked)
    topic = heading[1] if heading else tagged(asked, "question") or ""
    wanted = {w.lower() for w in keywords(topic)}
    results = search_results(request)
    most = CITED_IN_PARAGRAPH if heading else 1
    blocks: list[Block] = []
    if results:
        passages = sorted(
            (-overlap_of(wanted, f"{result['title']} {part['text']}"), number, at, part["text"])
            for number, result in enumerate(results)
            for at, part in enumerate(result["content"])
        )
        best = -passages[0][0]
        for overlap, number, at, words in passages:
            if -overlap < max(1, best / 2):
                break
            excerpt = _excerpt(topic, words)
            if (not heading or excerpt not in report) and len(blocks) < 2 * most:
                where = citation(number, at, at + 1, source=results[number]["source"])
                blocks += [cited(excerpt, {**where, "cited_text": words}), text(" ")]
    else:
        for page, body in PAGE.findall(asked)[:most]:
            excerpt = _excerpt(topic, body)
            if (not heading or excerpt not in report) and overlap_of(wanted, excerpt):
                blocks.append(text(f"{excerpt} [{page}] "))
    if not blocks:
        blocks.append(text(f"> Nothing was found on: {topic}."))
    return Reply(tuple(blocks))
