"""``python -m tests.bench NAME [options]``: one bench, or ``all``, which takes about an hour."""

from __future__ import annotations

import importlib
import sys

from bot.core.logs import configure_logging

BENCHES = {
    "startup": "time of commands, beyond their work",
    "overhead": "time of a run beyond its peers', and of 200 runs at once",
    "tokens": "billed input tokens against a plain loop",
    "rivals": "Footnote beside others: right answers, citations, tokens, calls",
    "desk": "what a search lays on the desk of a model: junk, facts reached, tokens",
    "flat": "what each search costs, of 5 and of 150, and kills of the latter",
    "multihop": "gold pages read without a model",
    "documentation": "real manuals: pages found, words quoted, off-topic questions refused",
    "follow_ups": "pages found for follow-ups without a model",
    "chatter": "messages among people that are answered, follow-ups that are missed",
    "check": "false sentences that the check of answers finds, true ones that it marks",
    "citations": "false sentences that come through the check after 2 to 150 tool calls",
    "extraction": "text of real news pages",
    "load": "one worker and two on one PostgreSQL: throughput, delays, database calls, memory",
    "crash": "random kills and broken networks: one answer each, one telling of each change",
    "hostile": "50 hostile web servers: latency of the listener; slow links beside a good one",
    "walk": "the modules that one Slack question passes through",
    "mutants": "small things made wrong in the core: the share that its tests notice",
}


def main(arguments: list[str]) -> None:
    name = arguments[0] if arguments else ""
    if name not in (*BENCHES, "all"):
        listed = "\n".join(f"  {name:<15}{what}" for name, what in BENCHES.items())
        sys.exit(f"{__doc__}\n\n{listed}")
    configure_logging("warning")  # on stderr: stdout is for what is measured
    for each in BENCHES if name == "all" else (name,):
        print(f"\n== {each}: {BENCHES[each]}\n", flush=True)
        importlib.import_module(f"tests.bench.{each}").main(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
