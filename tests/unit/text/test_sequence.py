import pytest

from bot.text.sequence import out_of_order


@pytest.mark.parametrize(
    ("claim", "quoted", "words"),
    [
        (
            "Workers tested the brakes before painting the wagon.",
            "Workers tested the brakes after painting the wagon.",
            "before",
        ),
        (
            "The choir sang in Rome first and then toured Spain.",
            "The choir sang in Rome after a tour of Spain.",
            "first",
        ),
        (
            "The mill closed before the railway opened.",
            "The railway opened in 1871. The mill closed in 1902.",
            "before",
        ),
        (
            "She left the firm because its wages were low.",
            "She left the firm after a quarrel with its owner.",
            "because",
        ),
        (
            "The dam broke because the village flooded.",
            "The village flooded after the dam broke.",
            "because",
        ),
        (
            "Jon Berg was born on 4 May 1901.",
            "Jon Berg (2 June 1833 – 4 May 1901) was a painter.",
            "4 May 1901",
        ),
        ("The museum lies on the left bank.", "The museum lies on the right bank.", "left bank"),
    ],
)
def test_what_is_joined_otherwise_is_found(claim: str, quoted: str, words: str) -> None:
    assert out_of_order(claim, quoted) == words


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        (
            "Before painting the wagon, workers tested the brakes.",
            "Workers tested the brakes before painting the wagon.",
        ),
        (
            "Ann was queen from 1295 until she died in 1296.",
            "Ann was duchess from 1294 to 1296, and then queen from 1295 until her death.",
        ),
        (
            "The railway opened before the mill closed.",
            "The railway opened in 1871. The mill closed in 1902.",
        ),
        (
            "He inherited the mill in 1871 and the farm after his uncle had died.",
            "In 1871 he inherited the mill. His uncle died in 1902 and left him the farm.",
        ),
        (
            "She left the firm because of a quarrel.",
            "She left the firm after a quarrel with its owner.",
        ),
        ("Jon Berg was born on 2 June 1833.", "Jon Berg (2 June 1833 – 4 May 1901) was a painter."),
        (
            "The museum lies on the left bank, the park on the right bank.",
            "The park is on the right bank.",
        ),
    ],
)
def test_a_true_sentence_is_let_pass(claim: str, quoted: str) -> None:
    assert out_of_order(claim, quoted) == ""
