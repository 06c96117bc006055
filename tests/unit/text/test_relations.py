import pytest

from bot.text.relations import misplaced


@pytest.mark.parametrize(
    ("claim", "quoted", "words"),
    [
        (
            "The opera was composed by Ada Holm and staged by Ben Ruiz.",
            "The opera was composed by Ben Ruiz and staged by Ada Holm.",
            "Ada Holm composed",
        ),
        (
            "Ada Holm composed the opera.",
            "The opera was composed by Ben Ruiz for the singer Ada Holm.",
            "Ada Holm composed",
        ),
        (
            "Ben Ruiz purchased the mill from Ada Holm.",
            "Ada Holm purchased the mill from Ben Ruiz.",
            "Ben Ruiz purchased",
        ),
        (
            "He was the son of the actor Jon Berg and the nephew of Ola Berg.",
            "He was the son of actor/ director Ola Berg and the nephew of director Jon Berg.",
            "son of Jon Berg",
        ),
        (
            "Clara Vik was the mother of Jon Berg.",
            "Clara Vik was the mother of Eva Lund and the aunt of Jon Berg.",
            "mother of Jon Berg",
        ),
        (
            "Jon Berg was the father of Eva Lund.",
            "Jon Berg was the son of Eva Lund.",
            "father of Eva Lund",
        ),
        (
            "Oslo became the second seat of government.",
            "In Bergen and Oslo they met. Bergen became the second seat of government.",
            "Oslo",
        ),
    ],
)
def test_a_name_in_the_role_of_another_is_found(claim: str, quoted: str, words: str) -> None:
    assert misplaced(claim, quoted) == words


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        (
            "Ada Holm and Ben Ruiz wrote the opera.",
            "The opera was written by Ben Ruiz and Ada Holm.",
        ),
        ("The film starred Ada Holm.", "Ada Holm starred in the film."),
        (
            "She descends from a brother of Jon Berg.",
            "She descends from Ola Evans, brother of Ida Evans, otherwise known as Jon Berg.",
        ),
        (
            "Eton was the school of Holm's son.",
            "Karl Vik was the son of Ben Vik, 1st Marquess of Holm. He was educated at Eton.",
        ),
        ("Ada Holm directed the film.", "The film was written and directed by Ada Holm."),
        ("The club bought the ground from Ben Ruiz.", "Ben Ruiz sold the ground to the club."),
        (
            "Clara Vik was the mother of the Norwegian poet Eva Lund.",
            "Clara Vik was the mother of Eva Lund, a poet from Norway.",
        ),
        (
            "Jon Berg's mother died in 1901.",
            "His mother, Clara Vik, died in 1901; Jon Berg was her only son.",
        ),
        (
            "The ICA and Ben Ruiz produced it.",
            "It was produced by the Institute of Common Arts (ICA) and Ben Ruiz.",
        ),
    ],
)
def test_a_true_sentence_is_let_pass(claim: str, quoted: str) -> None:
    assert misplaced(claim, quoted) == ""
