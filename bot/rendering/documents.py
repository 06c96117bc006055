"""An answer as JSON for programs, as printed by ``--json`` and returned by the web API."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from bot.core.lines import kind_of, label
from bot.core.messages import Answer, Verification
from bot.core.reader import display_address
from bot.rendering.plan import title_of
from bot.rendering.safety import unwrapped

# Characters that a terminal interprets or that cannot be encoded; JSON itself escapes C0.
_UNSEEN = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printed_json(document: object) -> str:
    """A document as JSON of several lines, safe to print: control characters are escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def answer_document(answer: Answer) -> dict[str, Any]:
    """The document of ``--json``; seconds rounded to milliseconds, money to millionths."""
    targets = answer.targets.values()
    with_words = {citation.number for citation in answer.citations if citation.proven}
    usage = asdict(answer.usage)
    usage["seconds"] = round(usage["seconds"], 3)
    usage["usd"] = round(usage["usd"], 6)
    return {
        "status": answer.status,
        "answer": unwrapped(answer.text, targets),
        "citations": [
            {
                "number": c.number,
                "url": display_address(c.url),
                "kind": kind_of(c.url),
                "title": label(c.title),
                "heading": label(c.heading),
                "quote": words,
                "via": label(c.via),
            }
            for c in answer.citations
            for words in c.proven or (() if c.number in with_words else ("",))
        ],
        "question": answer.question,
        "queries": list(answer.queries),
        "reasoner": answer.reasoner,
        "steps": [
            {"kind": s.kind, "title": title_of(s), "state": s.state, "seconds": round(s.seconds, 3)}
            for s in answer.steps
        ],
        "usage": usage,
        "doubts": [asdict(doubt) for doubt in answer.doubts],
        "disagreements": [asdict(other) for other in answer.disagreements],
        "changes": [
            {"before": unwrapped(one.before, targets), "after": unwrapped(one.after, targets)}
            for one in answer.changes
        ],
        "corrects": answer.corrects,
        "notes": list(map(label, answer.notes)),
        "suggestions": list(answer.suggestions),
        "missing": list(answer.missing),
        "verification": _verification(answer.verification),
        "run": answer.run,
    }


def _verification(found: Verification | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "state": found.state,
        "problem": found.problem,
        "sentences": [asdict(each) for each in found.sentences],
    }
