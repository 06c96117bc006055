"""Three pages that the tests of the closest passages ask about."""

from __future__ import annotations

from tests.unit.reasoning.samples import a_page_read

HARBOUR = (
    "# Oslo harbour\n\nThe harbour of Oslo was built in 1887 by Ingrid Dahl. It holds 1,200 boats."
    "\n\n## Rules\n\nBoats pay a fee:\n\n- small boats pay 10 kroner\n- large boats pay 25 kroner"
    "\n\n| boat | fee |\n|---|---|\n| ferry | 90 kroner |\n\n```sh\nharbour open --gate 3\n```\n"
)
DAHL = "Ingrid Dahl was an engineer. She was born in Bergen in 1851."
SOUP = "Soup is boiled in a pot. Salt is added at the end."

SOURCES = (
    a_page_read(1, "Oslo harbour", HARBOUR),
    a_page_read(2, "Ingrid Dahl", DAHL),
    a_page_read(3, "Soup", SOUP),
)
