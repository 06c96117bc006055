"""gpt-researcher at work, run by the Python of an environment that has it: a question a line on
stdin, its report as JSON on stdout."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys


async def main() -> None:
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # it prints to stdout, too
    package = importlib.import_module("gpt_researcher")
    for question in sys.stdin:
        researcher = package.GPTResearcher(question.strip(), verbose=False)
        researcher.add_costs = None  # to estimate them it would download a vocabulary
        await researcher.conduct_research()
        print(json.dumps(await researcher.write_report()), file=told, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
