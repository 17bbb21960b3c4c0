from __future__ import annotations

from pathlib import Path

import pytest

from corefine.document import Document, Span, SplitSpan
from corefine.formats import read
from corefine.scores.pronouns import ENGLISH, PRONOUNS, is_pronoun


def of(word: str, language: str | None = None, **layers: str) -> bool:
    document = Document("d", (word,), (0,), language=language, layers={name: (tag,) for name, tag in layers.items()})
    return is_pronoun(document, Span(0, 0))


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [
        ("en", "I she Her ITS themselves thou 'em", "Ann this who there mother"),
        ("nl", "ik Haar z'n zich hun -ie", "die dat vrouw er"),
        ("es", "él su nos Ella conmigo", "que quien Ana donde"),
        ("ru", "он Его неё своей себя нами", "который это Анна"),
        ("de", "ich Sie ihrem unser euch sich", "die das wer Frau"),
        ("fr", "je J' elle leur soi nous", "qui que cette Anne"),
        ("it", "io Lei suo loro ci", "che chi questo Anna"),
        ("pt", "eu Ela lhe seu você", "que quem este Ana"),
        ("ca", "jo Ella seva nosaltres", "que qui aquest Anna"),
        ("pl", "ja Jej niego swoją nami", "który to Anna"),
        ("cs", "já Její něho svou námi", "který to Anna"),
        ("sv", "jag Hennes sin oss", "som vem Anna"),
        ("da", "jeg Hendes sin os", "som hvem Anna"),
        ("nb", "jeg Hennes sin oss", "som hvem Anna"),
        ("tr", "ben Onun kendisi bizim", "bu kim Anna"),
        ("zh", "她 他们 您 自己", "这 谁 王芳"),
        ("ja", "彼 彼女 私たち 自分", "これ 誰 王"),
        ("ar", "هو هي نحن", "هذا من مريم"),
    ],
)
def test_words_of_each_language(language: str, yes: str, no: str) -> None:
    assert [word for word in yes.split() if not of(word, language)] == []
    assert [word for word in no.split() if of(word, language)] == []


def test_without_a_language_english_is_meant() -> None:
    assert of("she")
    assert of("she", "en-GB")
    assert not of("she", "nl")
    assert not of("she", "xx")


def test_a_curly_apostrophe_is_an_apostrophe() -> None:
    assert of("z’n", "nl")


def test_tags_come_before_words() -> None:
    assert of("haar", "nl")
    assert not of("haar", "nl", upos="NOUN")
    assert of("_", "es", upos="PRON")
    assert of("this", upos="PRON")
    assert of("his", xpos="PRP$")
    assert not of("US", xpos="NNP")
    assert of("us")


def test_a_tag_that_does_not_decide_leaves_it_to_the_word() -> None:
    assert of("su", "es", upos="DET")
    assert not of("la casa", "es", upos="DET")
    assert of("zijn", "nl", xpos="VNW[bez,det,stan]")
    assert of("she", pos="_")


def test_only_a_single_token_is_a_pronoun() -> None:
    document = Document("d", ("she", "her", "he"), (0,))
    assert not is_pronoun(document, Span(0, 1))
    assert not is_pronoun(document, SplitSpan([(0, 0), (2, 2)]))


def test_in_languages_split_into_characters_a_pronoun_may_have_several() -> None:
    document = Document("d", tuple("他们看见她和他"), (0,), language="zh")
    found = [
        span for span in (Span(i, j) for i in range(7) for j in range(i, min(i + 4, 7))) if is_pronoun(document, span)
    ]
    assert found == [Span(0, 0), Span(0, 1), Span(4, 4), Span(6, 6)]
    assert not is_pronoun(document, SplitSpan([(0, 0), (4, 4)]))


def test_english_pronouns_know_number_and_gender() -> None:
    assert ENGLISH["she"] == (3, "singular", "feminine")
    assert ENGLISH["them"].number == "plural"
    assert ENGLISH["you"].number is None
    assert ENGLISH.keys() == PRONOUNS["en"]


def test_lists_are_in_lower_case() -> None:
    assert [word for words in PRONOUNS.values() for word in words if word != word.lower()] == []


@pytest.mark.parametrize(
    ("corpus", "least"), [("openboek_nl", 0.35), ("corefud_es_ancora", 0.1), ("corefud_ru_rucor", 0.3)]
)
def test_the_lists_find_the_pronouns_of_a_corpus(corpora: Path, corpus: str, least: float) -> None:
    """As many of the mentions as the corpora were seen to have; Spanish mostly leaves its pronouns out."""
    found = [
        is_pronoun(document, span)
        for document in read(corpora / corpus / f"{corpus}.jsonl.gz")
        for span in document.mentions
    ]
    assert least < sum(found) / len(found) < 0.5
