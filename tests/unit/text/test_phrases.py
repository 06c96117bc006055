from bot.text.phrases import is_verb, phrased, pieces, same_name


def test_a_sentence_is_a_row_of_names_numbers_words_and_marks() -> None:
    found = pieces("The third wife of Jon Berg wrote 12 plays.")
    assert [(piece.kind, piece.key) for piece in found] == [
        ("word", "the"),
        ("number", "3th"),
        ("word", "wife"),
        ("word", "of"),
        ("name", "berg"),
        ("word", "write"),
        ("number", "12"),
        ("word", "plai"),
        ("mark", "."),
    ]


def test_a_text_is_cut_into_its_sentences() -> None:
    assert len(phrased("It opened. It closed.")) == 2


def test_verbs_are_known_by_their_form() -> None:
    found = pieces("she wrote, directed and united the red troupe")
    assert [piece.text for piece in found if is_verb(piece)] == ["wrote", "directed"]


def test_a_part_of_a_name_may_be_the_same_name() -> None:
    berg, jon, eva = (pieces(f"she met {name}")[-1] for name in ("Berg", "Jon Berg", "Eva Berg"))
    assert same_name(berg, jon)
    assert not same_name(jon, eva)
