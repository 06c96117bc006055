import pytest

from bot.text.opposed import opposed


@pytest.mark.parametrize(
    ("claim", "quoted", "words"),
    [
        ("The bridge was never completed.", "The bridge was completed in 1996.", "never completed"),
        ("The council opposed the plan.", "The council supported the plan.", "opposed"),
        ("Admission is not free.", "It has free admission.", "not free"),
        ("The second film was a hit.", "The second film was one of his few flops.", "hit"),
        (
            "The whole valley is flooded in spring.",
            "Parts of the valley are flooded in spring.",
            "The whole",
        ),
        (
            "Berg has won an Emmy Award for the series.",
            "For the series Berg received an Emmy Award nomination.",
            "nomination",
        ),
        ("Berg defrauded the bank.", "The bank accused Berg of having defrauded it.", "accused"),
        ("The church was finished.", "The church was never finished.", "never"),
        ("All churches were destroyed.", "Most churches were destroyed in 1944.", "All"),
        (
            "The film opened in cinemas in August.",
            "The film was planned to be opened in cinemas in August.",
            "planned",
        ),
        (
            "Turbines run at 3000 RPM in the USA and 3600 RPM in Europe.",
            "Turbines run at 3600 RPM in the USA, 3000 RPM in Europe.",
            "3000, 3600",
        ),
        (
            "Montreal was captured in 1763.",
            "Montreal was captured in 1760. The peace treaty was signed in 1763.",
            "1763",
        ),
        ("王室从未许诺过拨给他们土地。", "王室曾许诺向他们拨赠土地。", "从未"),
        ("森林砍伐量显著上升。", "森林砍伐量显著下降。", "上升"),
    ],
)
def test_what_words_plainly_show_is_found(claim: str, quoted: str, words: str) -> None:
    assert opposed(claim, quoted) == words


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("The bridge was completed in 1996.", "Work on the bridge was completed in 1996."),
        ("The plan was not supported.", "The plan was rejected."),
        ("Berg was nominated for an Emmy.", "Berg received an Emmy nomination."),
        (
            "Guests are respected whatever their rank.",
            "Guests are respected without regard for rank.",
        ),
        ("The council did not support the plan.", "The council opposed the plan."),
        ("The film was to open in August.", "The film was planned to open in August."),
        ("Most churches were destroyed.", "Most of the churches were destroyed."),
        (
            "In Europe they run at 3000 RPM, in the USA at 3600 RPM.",
            "They run at 3600 RPM in the USA, 3000 RPM in Europe.",
        ),
        ("The tower opens on 5 May 2010.", "The tower opens on 5 May 2010 at noon."),
        ("博物馆不收费。", "博物馆免费开放。"),
        ("You can create no more than 20 queues.", "Each account can create up to 20 queues."),
        ("No more than 20 queues are allowed.", "No more than 20 queues are allowed here."),
        ("At most 20 queues are allowed.", "No more than 20 queues are allowed."),
        ("130 households are not connected.", "Of 650 households 520 are connected."),
        (
            "The dome was destroyed and has not been rebuilt.",
            "In 1956 a storm destroyed the dome; it was never rebuilt.",
        ),
        ("Staff work from abroad for 20 days.", "Staff may work from abroad for 20 days."),
    ],
)
def test_a_true_sentence_is_let_pass(claim: str, quoted: str) -> None:
    assert opposed(claim, quoted) == ""


def test_what_failed_did_not_happen() -> None:
    quoted = "It came out in 1994 and charted. She released another in 1996, yet this failed to."
    assert opposed("Her album of 1994 charted, but the one from 1996 did not.", quoted) == ""


def test_one_quantity_in_two_units_is_not_two_swapped_figures() -> None:
    quoted = (
        "The country fills the south of the peninsula, some 1,100 km (680 mi) from the mainland."
    )
    claim = "It lies about 680 miles, 1,100 kilometres, from the mainland."
    assert opposed(claim, quoted) == ""


def test_a_calculated_figure_is_not_taken_for_one_of_another_sentence() -> None:
    quoted = "The population peaked at 8,615,245 in 1939. It had declined to 7,192,091 in 2001."
    assert opposed("In 2001 it had 83 % of its peak population.", quoted) == ""


@pytest.mark.parametrize(
    "claim",
    [
        "虽然北线的渡轮每天开六班，但南线的渡轮冬天没有开。",
        "东区的停车场有顶棚（东区收费两元，而西区的停车场没有顶棚）。",
        "1998 年港口首次使用了电动吊车，工程师说它用了 12 项专利，尽管几乎没有证据支持这一点。",
    ],
)
@pytest.mark.parametrize("other", ["", "渡轮由市政府经营，票价两元。\n"])
def test_a_negation_in_one_clause_is_looked_for_in_the_clause_that_it_retells(
    claim: str, other: str
) -> None:
    quoted = f"{other}{claim}渡轮全年都开，停车场也一样。"
    assert opposed(f"{claim[:-1]}的。", quoted) == ""


def test_rules_of_english_are_not_used_on_other_languages() -> None:
    quoted = "Die Brücke wurde von Anna Berg entworfen und von Karl Holm gebaut."
    assert opposed("Die Brücke wurde von Anna Berg entworfen.", quoted) == ""
    assert opposed("The gate is always open.", "大门全天开放。") == ""


def test_a_calculated_difference_has_its_own_more_or_fewer() -> None:
    quoted = "In 2013 the chain opened 125 shops and planned to open 100 more by 2014."
    assert opposed("The chain planned to open 25 fewer shops for 2014 than in 2013.", quoted) == ""
    assert opposed("The chain planned to open 100 fewer shops by 2014.", quoted)
