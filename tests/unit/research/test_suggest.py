"""What to ask next, from pages that were found and not used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answers import Citation
from bot.research.suggest import Offer, suggest

QUESTION = "How tall is the Eiffel Tower?"
ANSWER = "The Eiffel Tower is 330 metres tall [1]. Gustave Eiffel built it with lattice girders."


def offers(*titles: str) -> list[Offer]:
    return [Offer(title, f"https://example.org/{n}") for n, title in enumerate(titles)]


def cited(title: str, url: str) -> Citation:
    return Citation(1, url, title, "quote", "hash", 0, 5)


def suggested(*titles: str, question: str = QUESTION, answer: str = ANSWER) -> tuple[str, ...]:
    return suggest(question, answer, [], offers(*titles))


def test_pages_about_what_was_asked_are_suggested() -> None:
    assert suggested("Paris Metro", "Gustave Eiffel", "Lattice girders of the Eiffel Tower") == (
        "Tell me more about Lattice girders of the Eiffel Tower",
        "Tell me more about Gustave Eiffel",
    )


@pytest.mark.parametrize(
    "title", ["How tall is the Eiffel Tower?", "The Eiffel Tower: how tall?", "Tall Eiffel Tower"]
)
def test_the_question_itself_is_not_suggested(title: str) -> None:
    assert suggested(title) == ()


@pytest.mark.parametrize(
    "title",
    [
        "", "  ", "Home", "index.html", "404 Not Found", "Untitled", "https://example.org/eiffel",
        "Eiffel Tower (disambiguation)", "A" * 300 + " Eiffel Tower", "1889", "\x1b[31m", "***",
    ],
)  # fmt: skip
def test_a_title_that_says_nothing_is_not_suggested(title: str) -> None:
    assert suggested(title) == ()


def test_a_page_that_has_nothing_to_do_with_it_is_not_suggested() -> None:
    assert suggested("Cheap flights to Rome", "Cookies and privacy") == ()


def test_a_cited_page_is_not_suggested_nor_one_of_the_same_name() -> None:
    offered = [
        Offer("Gustave Eiffel and his works", "https://www.example.org/eiffel/"),
        Offer("Gustave Eiffel – Other Encyclopedia", "https://other.example/x"),
        Offer("Eiffel Bridge", "https://example.org/bridge"),
    ]
    citation = cited("Gustave Eiffel - Encyclopedia", "https://example.org/eiffel")
    assert suggest(QUESTION, ANSWER, [citation], offered) == ("Tell me more about Eiffel Bridge",)


def test_no_two_suggestions_ask_the_same() -> None:
    assert len(suggested("Gustave Eiffel", "Gustave Eiffel | Britannica", "Eiffel, Gustave")) == 1


def test_no_more_are_given_than_asked_for() -> None:
    offered = offers(*(f"Eiffel {name}" for name in ("Bridge", "Lamp", "Garden", "Station")))
    assert len(suggest(QUESTION, ANSWER, [], offered)) == 3
    assert len(suggest(QUESTION, ANSWER, [], offered, limit=1)) == 1
    assert suggest(QUESTION, ANSWER, [], offered, limit=0) == ()


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Eiffel Bridge - Wikipedia", "Tell me more about Eiffel Bridge"),
        ("Eiffel Bridge | Facts | Britannica", "Tell me more about Eiffel Bridge"),
        ("**Eiffel** `Bridge`", "Tell me more about Eiffel Bridge"),
        ("<@U1> Eiffel\n[Bridge]", "Tell me more about U1 Eiffel Bridge"),
        ("Where did Eiffel live?", "Where did Eiffel live?"),
        ("How Eiffel built his bridges", "What does “How Eiffel built his bridges” say?"),
        ("Eiffel: a life in iron", "What does “Eiffel: a life in iron” say?"),
    ],
)
def test_a_suggestion_reads_as_a_question_of_its_own(title: str, question: str) -> None:
    assert suggested(title) == (question,)


@pytest.mark.parametrize(
    ("asked", "title", "question"),
    [
        ("埃菲尔铁塔有多高？", "埃菲尔铁塔的历史", "请介绍一下埃菲尔铁塔的历史"),
        ("埃菲爾鐵塔有多高？", "艾菲爾鐵塔的歷史", "請介紹一下艾菲爾鐵塔的歷史"),
        ("埃菲尔铁塔有多高？", "铁塔：钢铁的诗", "《铁塔：钢铁的诗》讲了什么？"),
        (
            "エッフェル塔の高さは？",
            "エッフェル塔の建設の歴史",
            "エッフェル塔の建設の歴史について詳しく教えてください",
        ),
        ("에펠탑의 높이는 얼마인가요?", "에펠탑 역사", "에펠탑 역사에 대해 더 알려 주세요"),
        ("Wie hoch ist der Eiffelturm?", "Eiffelturm Bau", "Erzähl mir mehr über Eiffelturm Bau"),
        (
            "Quelle est la hauteur de la tour Eiffel ?",
            "Gustave Eiffel",
            "Que peut-on dire de plus sur Gustave Eiffel ?",
        ),
        ("Who was 李白?", "李白 poems", "Tell me more about 李白 poems"),
    ],
)  # fmt: skip
def test_it_speaks_the_asker_s_language(asked: str, title: str, question: str) -> None:
    assert suggest(asked, "", [], offers(title)) == (question,)


@given(
    st.text(max_size=30),
    st.lists(st.text(alphabet="abE iffel塔高-|?<@\n{}", max_size=20), max_size=6),
)
def test_whatever_the_titles_hold_suggestions_are_short_distinct_lines(
    question: str, titles: list[str]
) -> None:
    found = suggest(question, " ".join(titles), [], offers(*titles))
    assert len(found) == len(set(found)) <= 3
    assert all("\n" not in line and "<" not in line and "@" not in line for line in found)
    assert found == suggest(question, " ".join(titles), [], offers(*titles))
