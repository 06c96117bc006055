"""Which language a message is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.language import detect


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "What is the capital of France?"),
        ("en", "and in 2019?"),
        ("en", "Kubernetes pod eviction"),
        ("en", "Who was 李白?"),
        ("en", "What does 民主主義 mean in Japanese?"),
        ("en", "Is Die Zeit a German newspaper?"),
        ("en", ""),
        ("en", "42"),
        ("en", "```die das und der```"),
        ("en", "https://de.wikipedia.org/wiki/Der_und_die_das"),
        ("zh", "法国的首都是哪里？"),
        ("zh", "什么是 GPT-4 transformer architecture？"),
        ("zh", "那2019年呢？"),
        ("zh", "法國的首都是哪裡？"),
        ("ja", "フランスの首都はどこですか？"),
        ("ja", "東京都の人口は？"),
        ("ja", "GPT-4とは何ですか"),
        ("ko", "프랑스의 수도는 어디입니까?"),
        ("ko", "GPT-4는 무엇인가요"),
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
        ("ru", "Какой город является столицей Франции?"),
        ("uk", "Яке місто є столицею Франції?"),
        ("pl", "Jakie miasto jest stolicą Francji i dlaczego?"),
        ("sv", "Vad är huvudstaden i Frankrike?"),
        ("tr", "Fransa'nın başkenti hangi şehir ve neden?"),
        ("el", "Ποια είναι η πρωτεύουσα της Γαλλίας;"),
        ("ar", "ما هي عاصمة فرنسا؟"),
        ("fa", "پایتخت فرانسه چیست؟"),
        ("he", "מהי בירת צרפת?"),
        ("hi", "फ्रांस की राजधानी क्या है?"),
        ("th", "เมืองหลวงของฝรั่งเศสคืออะไร"),
    ],
)
def test_a_question_is_recognized(language: str, text: str) -> None:
    assert detect(text) == language


@given(st.text())
def test_every_text_has_a_primary_tag(text: str) -> None:
    tag = detect(text)
    assert len(tag) == 2
    assert tag.islower()
