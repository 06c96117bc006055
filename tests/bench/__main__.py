"""``python -m tests.bench NAME [options]``: one bench, or ``all``, which takes about an hour."""

from __future__ import annotations

import importlib
import sys

from bot.logs import configure_logging

BENCHES = {
    "startup": "time of `footnote --help`",
    "overhead": "time of a run beyond its peers', and of 200 runs at once",
    "tokens": "billed input tokens against a plain loop",
    "multihop": "gold pages read without a model",
    "verdicts": "time from the last word of an answer to the verdicts on its sentences",
    "check": "false sentences that the check of answers finds, true ones that it marks",
    "queries": "ordinary queries that are kept from the web by mistake",
    "rewriting": "topic words carried into follow-ups",
    "language": "languages of short texts that are told",
    "depth": "strategies against a plain loop and a loop by layers: time, tokens, recall",
    "documentation": "real manuals: pages found, words quoted, off-topic questions refused",
    "own_words": "documents found and quoted by words and by meaning, with small models",
    "quotes": "printed quotes that hold the words which they prove",
    "gallery": "the same answers on every surface, as text and in numbers",
    "indexing": "passages per second, query time, index size",
    "extraction": "text of real news pages",
    "reading": "text of real documentation: words kept, navigation",
    "crash": "random kills and broken networks: one answer each, one telling of each change",
    "million": "a million runs in PostgreSQL: what each hot statement reads, and its time",
    "load": "one worker and two on one PostgreSQL: throughput, delays, database calls, memory",
    "workspaces": "1,000 workspaces in a process, 10 by Socket Mode, 100 questions a second",
    "connections": "connections to PostgreSQL of five processes, in a burst and after it",
    "run_page": "the page of a long run: time on the server, size",
    "streams": "500 open pages of the console: delays, memory, database calls; a first visit",
    "memory": "hostile documents: memory of `serve` and its readers, how long others wait",
    "hostile": "50 hostile web servers: latency of the listener; slow links beside a good one",
    "chat": "`serve` on Slack and Discord: acknowledgements, first signs, calls, memory",
    "walk": "the modules that one Slack question passes through",
    "mutants": "small things made wrong in the core: the share that its tests notice",
}


def main(arguments: list[str]) -> None:
    name = arguments[0] if arguments else ""
    if name not in (*BENCHES, "all"):
        listed = "\n".join(f"  {name:<12}{what}" for name, what in BENCHES.items())
        sys.exit(f"{__doc__}\n\n{listed}")
    configure_logging("warning")  # on stderr: stdout is for what is measured
    for each in BENCHES if name == "all" else (name,):
        print(f"\n== {each}: {BENCHES[each]}\n", flush=True)
        importlib.import_module(f"tests.bench.{each}").main(arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
