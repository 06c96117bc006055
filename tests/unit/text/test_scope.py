import pytest

from bot.text.scope import out_of_scope


@pytest.mark.parametrize(
    ("claim", "quoted", "words"),
    [
        (
            "The council did not approve the plan.",
            "The plan was approved by the council, although it lacked funds in the end.",
            "not approve",
        ),
        ("She was the sixth of eight.", "She was the 6th of 11 siblings.", "sixth of eight"),
        (
            "The noise has damaged the hearing of whales.",
            "The noise could damage the hearing of whales.",
            "could",
        ),
        (
            "The hall has three side doors.",
            "The hall has two side doors and three windows.",
            "3 side door",
        ),
        ("She was the fourth wife of the duke.", "She was the third wife of the duke.", "4 wife"),
        (
            "It is the oldest bridge in the county.",
            "It is one of the oldest bridges in the county.",
            "oldest",
        ),
        (
            "It is the longest bridge in the county.",
            "It is the second longest bridge in the county.",
            "longest",
        ),
        (
            "Welsh is the only official language.",
            "Welsh is an official language of the town.",
            "the only",
        ),
    ],
)
def test_what_a_word_goes_with_is_compared(claim: str, quoted: str, words: str) -> None:
    assert out_of_scope(claim, quoted) == words


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("The council did not approve the plan.", "The council refused to approve the plan."),
        ("The bridge cannot be crossed in winter.", "The bridge can be crossed, except in winter."),
        ("She was the sixth of eleven children.", "She was the 6th of 11, and first of 3 girls."),
        ("Not only ships but also barges use the canal.", "Ships and barges use the canal."),
        ("Of the households 130 are not connected.", "Of 650 households 520 are connected."),
        ("Staff work from abroad for 20 days.", "Staff may work from abroad for 20 days."),
        (
            "The noise may have damaged the hearing of whales.",
            "The noise could damage the hearing of whales.",
        ),
        ("Two years after its first film it made another.", "It made two films."),
        (
            "His second wife was Eva Lund.",
            "His first wife was Clara Vik; later he married Eva Lund.",
        ),
        ("It is one of the oldest bridges.", "It is among the oldest bridges."),
        ("There were 8 teams in all (5 + 3).", "There were 5 teams from here and 3 from abroad."),
        ("The club has 8 teams.", "The club: Teams 8, Members 300."),
    ],
)
def test_a_true_sentence_is_let_pass(claim: str, quoted: str) -> None:
    assert out_of_scope(claim, quoted) == ""
