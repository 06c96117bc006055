"""Long work in short transactions: how large the next batch may be."""

from __future__ import annotations

from bot.storage.removal import FIRST, LEAST, MOST, Batches
from bot.storage.store import Store


async def test_the_pieces_hold_every_row_once_in_order(store: Store) -> None:
    batches, rows = Batches(store.database), list(range(1_000))
    pieces = []
    for piece in batches.of(rows):
        pieces.append(piece)
        async with batches.batch():
            pass
    assert [row for piece in pieces for row in piece] == rows
    assert len(pieces[0]) == FIRST
    assert all(len(piece) <= MOST for piece in pieces)


async def test_batches_shrink_while_they_take_too_long_but_not_to_nothing(store: Store) -> None:
    batches = Batches(store.database)
    batches.goal = 0.0
    for _ in range(5):
        async with batches.batch():
            pass
    assert len(next(batches.of(range(100)))) == LEAST


async def test_batches_grow_while_there_is_time(store: Store) -> None:
    batches = Batches(store.database)
    batches.goal = 60.0
    for _ in batches.of(range(10_000)):
        async with batches.batch():
            pass
    assert len(next(batches.of(range(10_000)))) == MOST


async def test_a_batch_that_was_not_full_says_nothing_of_a_larger_one(store: Store) -> None:
    batches = Batches(store.database)
    batches.goal = 60.0
    for _ in range(10):
        for _ in batches.of(range(FIRST - 1)):
            async with batches.batch():
                pass
    assert len(next(batches.of(range(10_000)))) == FIRST
