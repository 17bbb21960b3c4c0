"""Which mentions are pronouns: by part of speech where a document has it, else by word list.

The lists have personal, possessive and reflexive pronouns, with older and spoken forms for novels. They have no
demonstrative and relative pronouns. English pronouns come with person, number and gender.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from corefine.document import Document, Span

Number = Literal["singular", "plural"]
Gender = Literal["masculine", "feminine", "neuter"]


class Pronoun(NamedTuple):
    """What a pronoun says about its referent; None where it says nothing."""

    person: Literal[1, 2, 3]
    number: Number | None
    gender: Gender | None


def _table(entries: dict[Pronoun, str]) -> dict[str, Pronoun]:
    return {word: pronoun for pronoun, words in entries.items() for word in words.split()}


ENGLISH = _table(
    {
        Pronoun(1, "singular", None): "i me my mine myself",
        Pronoun(1, "plural", None): "we us our ours ourselves ourself 's",
        Pronoun(2, "singular", None): "yourself thou thee thy thine thyself",
        Pronoun(2, "plural", None): "yourselves",
        Pronoun(2, None, None): "you your yours ye y' ya",
        Pronoun(3, "singular", "masculine"): "he him his himself hisself",
        Pronoun(3, "singular", "feminine"): "she her hers herself",
        Pronoun(3, "singular", "neuter"): "it its itself 't",
        Pronoun(3, "singular", None): "one one's oneself themself",
        Pronoun(3, "plural", None): "they them their theirs themselves 'em theirselves",
    }
)
"""English pronouns in lower case."""

_DUTCH = """
    ik 'k me mij mijn m'n mijne mijzelf mezelf
    jij je jou jouw jouwe jezelf jouzelf u uw uwe uzelf gij ge
    hij ie -ie hem 'm zijn z'n zijne hemzelf zij ze haar d'r 'r hare haarzelf het 't
    wij we ons onze onszelf jullie hun hunne hen henzelf zich zichzelf men
"""
_SPANISH = """
    yo me mí mi mis mío mía míos mías conmigo
    tú te ti tu tus tuyo tuya tuyos tuyas contigo vos usted ustedes
    él ella ello lo la le se sí su sus suyo suya suyos suyas consigo
    nosotros nosotras nos nuestro nuestra nuestros nuestras
    vosotros vosotras os vuestro vuestra vuestros vuestras ellos ellas los las les
"""
_RUSSIAN = """
    я меня мне мной мною мой моя моё мое мои моего моей моему моим моём моем мою моею моих моими
    ты тебя тебе тобой тобою твой твоя твоё твое твои твоего твоей твоему твоим твоём твоем твою твоею твоих твоими
    он его него ему нему им ним нём нем оно она её ее неё нее ей ней ею нею
    мы нас нам нами наш наша наше наши нашего нашей нашему нашим нашем нашу нашею наших нашими
    вы вас вам вами ваш ваша ваше ваши вашего вашей вашему вашим вашем вашу вашею ваших вашими
    они их них ими ними себя себе собой собою
    свой своя своё свое свои своего своей своему своим своём своем свою своею своих своими
"""

PRONOUNS: dict[str, frozenset[str]] = {
    "en": frozenset(ENGLISH),
    "nl": frozenset(_DUTCH.split()),
    "es": frozenset(_SPANISH.split()),
    "ru": frozenset(_RUSSIAN.split()),
}
"""Pronouns in lower case, by language code."""

RATHER_ARTICLES: dict[str, frozenset[str]] = {
    "nl": frozenset({"het", "'t"}),
    "es": frozenset({"la", "las", "lo", "los"}),
}
"""Pronouns that are more often articles, by language code."""

PRONOUN_TAGS = frozenset({"PRON", "PRP", "PRP$"})
"""How Universal Dependencies and the Penn Treebank tag a pronoun."""

OTHER_TAGS = frozenset(
    "NOUN PROPN VERB ADJ ADV NUM INTJ ADP AUX SYM NN NNS NNP NNPS VB VBD VBG VBN VBP VBZ JJ RB CD UH IN MD".split()
)
"""Tags that rule out a pronoun. With all others (`DET`, as of possessives, or unknown tags) the word decides."""

TAG_LAYERS = ("upos", "pos", "xpos")


def is_pronoun(document: Document, span: Span) -> bool:
    """Whether a mention is a pronoun: one token with a pronoun's tag or, if the tag does not decide, a listed word.

    A document without a language counts as English. For a language without a list only tags decide.
    """
    if span.start != span.end:
        return False
    for layer in TAG_LAYERS:
        tag = document.layers[layer][span.start] if layer in document.layers else ""
        if tag in PRONOUN_TAGS:
            return True
        if tag in OTHER_TAGS:
            return False
    return _is_listed(document, span, PRONOUNS)


def is_rather_article(document: Document, span: Span) -> bool:
    """Whether a span is a single word that can be a pronoun but is more often an article."""
    return span.start == span.end and _is_listed(document, span, RATHER_ARTICLES)


def _is_listed(document: Document, span: Span, lists: dict[str, frozenset[str]]) -> bool:
    language = (document.language or "en").split("-")[0].lower()
    return document.tokens[span.start].lower().replace("’", "'") in lists.get(language, frozenset())
