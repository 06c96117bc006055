"""An answer as JSON for programs: what `--json` prints and the web's API gives."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from bot.answers import Answer


def answer_document(answer: Answer) -> dict[str, Any]:
    """The contract of ``--json``; seconds to milliseconds, money to millionths."""
    usage = asdict(answer.usage)
    usage["seconds"] = round(usage["seconds"], 3)
    usage["usd"] = round(usage["usd"], 6)
    return {
        "status": answer.status,
        "answer": answer.text,
        "more": answer.more,
        "citations": [
            {
                "number": c.number,
                "url": c.url,
                "title": c.title,
                "heading": c.heading,
                "quote": words,
                "via": c.via,
            }
            for c in answer.citations
            for words in c.proven or ("",)
        ],
        "question": answer.question,
        "queries": list(answer.queries),
        "reasoner": answer.reasoner,
        "steps": [
            {"kind": s.kind, "title": s.title, "state": s.state, "seconds": round(s.seconds, 3)}
            for s in answer.steps
        ],
        "usage": usage,
        "doubts": [asdict(doubt) for doubt in answer.doubts],
        "disagreements": [asdict(other) for other in answer.disagreements],
        "notes": list(answer.notes),
        "suggestions": list(answer.suggestions),
        "missing": list(answer.missing),
        "run": answer.run,
    }
