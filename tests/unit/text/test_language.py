"""The language of a message."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.language import detect, foreign


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What is the capital of France?"),
        ("en", "and in 2019?"),
        ("en", "how to reset password"),
        ("en", "Is Die Zeit a German newspaper?"),
        ("zh", "法国的首都是哪里？"),
        ("zh", "那2019年呢？"),
        ("zh", "法國的首都是哪裡？"),
        ("ja", "フランスの首都はどこですか？"),
        ("ja", "東京都の人口は？"),
        ("ko", "프랑스의 수도는 어디입니까?"),
        ("de", "Was ist die Hauptstadt von Frankreich?"),
        ("de", "Wie hoch ist der Eiffelturm?"),
        ("de", "und wann wurde er gebaut?"),
        ("fr", "Quelle est la capitale de la France ?"),
        ("fr", "Qui a écrit « Les Misérables » ?"),
        ("fr", "C’est quoi l’inflation ?"),
        ("es", "¿Cuál es la capital de Francia?"),
        ("es", "Quién escribió el Quijote"),
        ("pt", "Qual é a capital da França?"),
        ("pt", "Quem escreveu Os Lusíadas e quando?"),
        ("it", "Qual è la capitale della Francia?"),
        ("it", "Chi ha scritto la Divina Commedia?"),
        ("nl", "Wat is de hoofdstad van Frankrijk?"),
        ("nl", "Hoe hoog is het gebouw en wie heeft het gebouwd?"),
        ("da", "Hvem skrev Den lille havfrue?"),
        ("da", "Hvornår lukker kontoret?"),
        ("no", "Når stenger kontoret?"),
        ("sv", "Vad är huvudstaden i Frankrike?"),
        ("fi", "Milloin toimisto sulkeutuu?"),
        ("fi", "Mikä on Islannin pääkaupunki?"),
        ("cs", "Kolik obyvatel má Brno?"),
        ("cs", "Jaké je hlavní město Islandu?"),
        ("sk", "Prečo je obloha modrá"),
        ("pl", "Jakie miasto jest stolicą Francji i dlaczego?"),
        ("hu", "Mikor zár az iroda?"),
        ("ro", "Care este capitala Islandei?"),
        ("tr", "Fransa'nın başkenti hangi şehir ve neden?"),
        ("id", "Di mana ibu kota Islandia?"),
        ("vi", "Thủ đô của Iceland là gì?"),
        ("ca", "Quina és la capital d'Islàndia?"),
        ("ru", "Какой город является столицей Франции?"),
        ("uk", "Яке місто є столицею Франції?"),
        ("bg", "Кой е написал „Под игото“?"),
        ("el", "Ποια είναι η πρωτεύουσα της Γαλλίας;"),
        ("ar", "ما هي عاصمة فرنسا؟"),
        ("fa", "پایتخت فرانسه چیست؟"),
        ("he", "מהי בירת צרפת?"),
        ("hi", "फ्रांस की राजधानी क्या है?"),
        ("bn", "বাংলাদেশের রাজধানী কী?"),
        ("th", "เมืองหลวงของฝรั่งเศสคืออะไร"),
    ],
)
def test_a_question_is_recognized(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "", "42", "ok", "thanks!", "Picasso", "nginx", "Zürich", "x = y + z", "\ud800", "...?",
        "Kubernetes pod eviction", "SQLITE_BUSY", "postgres vacuum full", "pg_dump single table",
    ],
)  # fmt: skip
def test_english_is_taken_where_nothing_tells(text: str) -> None:
    assert detect(text) == "en"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Who was 李白?"),
        ("en", "What does 民主主義 mean in Japanese?"),
        ("en", "population of 서울"),
        ("en", "What does привет mean?"),
        ("de", "Was bedeutet 民主主義 auf Japanisch?"),
        ("ru", "Кто такой 李白?"),
        ("ru", "Как установить Docker Desktop на Windows"),
        ("el", "Τι είναι το Kubernetes;"),
        ("zh", "什么是 GPT-4 transformer architecture？"),
        ("zh", "ImportError: No module named requests 怎么办"),
        ("zh", "PostgreSQL max_connections 默认值"),
        ("ja", "GPT-4とは何ですか"),
        ("ja", "Docker Compose restart policyの設定方法"),
        ("ko", "GPT-4는 무엇인가요"),
        ("ko", "git rebase --onto 사용법"),
    ],
)
def test_a_name_in_another_script_makes_no_language(language: str, text: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    "text",
    ["```die das und der```", "https://de.wikipedia.org/wiki/Der_und_die_das", "`le la les`"],
)
def test_code_and_links_do_not_count(text: str) -> None:
    assert detect(text) == "en"
    assert detect(f"{text} Wie hoch ist der Eiffelturm?") == "de"


GERMAN = "Der Hafen von Oslo öffnet seine Tore am Morgen und schließt sie am Abend wieder. " * 9
ENGLISH = "The harbour of Oslo opens its gates in the morning and closes them in the evening. " * 9


def test_pages_in_another_language_are_told_where_one_is_in_this() -> None:
    assert foreign({1: ENGLISH, 2: GERMAN, 3: GERMAN[:99]}, "en") == {2}  # too short to tell
    assert foreign({2: GERMAN}, "en") == frozenset()
    assert foreign({1: ENGLISH, 2: GERMAN}, "de") == frozenset()  # English: or nothing tells


def test_the_model_is_not_imported_before_it_is_needed() -> None:
    program = "import sys, bot.text.language; print('fasttext' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


@given(st.text())
def test_every_text_has_a_primary_tag(text: str) -> None:
    assert re.fullmatch("[a-z]{2}", detect(text))
