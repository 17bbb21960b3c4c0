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

_GERMAN = """
    ich mich mir mein meine meinen meinem meiner meines du dich dir dein deine deinen deinem deiner deines
    er ihn ihm sein seine seinen seinem seiner seines sie ihr ihre ihren ihrem ihrer ihres ihnen es sich man
    wir uns unser unsere unseren unserem unserer unseres euch euer eure euren eurem eurer eures
"""
_FRENCH = """
    je j' me m' moi mon ma mes mien mienne miens miennes tu te t' toi ton ta tes tien tienne tiens tiennes
    il elle on lui le la l' les se s' soi son sa ses sien sienne siens siennes eux ils elles leur leurs
    nous notre nos nôtre nôtres vous votre vos vôtre vôtres
"""
_ITALIAN = """
    io me mi mio mia miei mie tu te ti tuo tua tuoi tue lui lei egli ella esso essa lo la gli le si sé suo sua suoi sue
    noi ci nostro nostra nostri nostre voi vi vostro vostra vostri vostre loro essi esse li
"""
_PORTUGUESE = """
    eu me mim meu minha meus minhas comigo tu te ti teu tua teus tuas contigo você vocês
    ele ela eles elas lhe lhes se si seu sua seus suas consigo
    nós nos nosso nossa nossos nossas conosco vós vos vosso vossa vossos vossas convosco
"""
_CATALAN = """
    jo em m' me mi meu meva meus meves tu et t' te teu teva teus teves vostè vostès
    ell ella ells elles li es s' se si seu seva seus seves ho
    nosaltres ens nostre nostra nostres vosaltres us vos vostre vostra vostres
"""
_POLISH = """
    ja mnie mi mną mój moja moje mojego mojej mojemu moim moją moich moimi
    ty ciebie cię tobie ci tobą twój twoja twoje twojego twojej twojemu twoim twoją twoich twoimi
    on jego go niego jemu mu niemu nim ona jej niej ją nią ono oni one ich nich im nimi
    my nas nam nami nasz nasza nasze naszego naszej naszemu naszym naszą naszych naszymi
    wy was wam wami wasz wasza wasze waszego waszej waszemu waszym waszą waszych waszymi
    siebie sobie sobą swój swoja swoje swojego swojej swojemu swoim swoją swoich swoimi
"""
_CZECH = """
    já mě mne mně mnou můj moje mého mému mém mým mou mojí moji mých mými
    ty tebe tě tobě tebou tvůj tvoje tvého tvému tvém tvým tvou tvojí tvoji tvých tvými
    on jeho ho něho něj jemu mu němu něm jím ním ona jí ji ní ni jej ono oni ony jich nich jim nim ně jimi nimi
    jejich její
    my nás nám námi náš naše našeho našemu našem naším naši našich našimi
    vy vás vám vámi váš vaše vašeho vašemu vašem vaším vaši vašich vašimi
    sebe sobě sebou svůj svoje svého svému svém svým svou svojí svoji svých svými
"""
_SWEDISH = """
    jag mig min mitt mina du dig din ditt dina han honom hans hon henne hennes den det dess
    vi oss vår vårt våra ni er ert era de dem deras dom sig sin sitt sina man
"""
_DANISH = """
    jeg mig min mit mine du dig din dit dine han ham hans hun hende hendes den det dens dets
    vi os vores jer jeres de dem deres sig sin sit sine man
"""
_NORWEGIAN = """
    jeg meg min mitt mine du deg din ditt dine han ham hans hun henne hennes den det dens dets
    vi oss vår vårt våre dere deres de dem seg sin sitt sine man
"""
_TURKISH = """
    ben beni bana benim bende benden sen seni sana senin sende senden o onu ona onun onda ondan
    biz bizi bize bizim bizde bizden siz sizi size sizin sizde sizden onlar onları onlara onların onlarda onlardan
    kendim kendin kendisi kendini kendine kendisini kendisine kendileri
"""
_CHINESE = """
    我 你 妳 您 他 她 它 牠 祂 咱 自己 我们 我們 你们 你們 妳們 您们 您們 他们 他們 她们 她們 它们 它們 牠們 咱们 咱們
"""
_JAPANESE = """
    私 わたし わたくし 僕 ぼく 俺 おれ あなた 貴方 君 きみ 彼 彼女 彼ら 彼女ら 彼女たち 彼女達 私たち 私達 僕たち
    僕ら 我々 自分
"""
_ARABIC = "أنا أنت أنتِ أنتَ هو هي هما هم هن نحن أنتم أنتن أنتما"

_LISTS = {
    "nl": _DUTCH, "es": _SPANISH, "ru": _RUSSIAN, "de": _GERMAN, "fr": _FRENCH, "it": _ITALIAN, "pt": _PORTUGUESE,
    "ca": _CATALAN, "pl": _POLISH, "cs": _CZECH, "sv": _SWEDISH, "da": _DANISH, "nb": _NORWEGIAN, "no": _NORWEGIAN,
    "tr": _TURKISH, "zh": _CHINESE, "ja": _JAPANESE, "ar": _ARABIC,
}  # fmt: skip

PRONOUNS: dict[str, frozenset[str]] = {
    "en": frozenset(ENGLISH),
    **{language: frozenset(words.split()) for language, words in _LISTS.items()},
}
"""Pronouns in lower case, by language code."""

RATHER_ARTICLES: dict[str, frozenset[str]] = {
    "nl": frozenset({"het", "'t"}),
    "es": frozenset({"la", "las", "lo", "los"}),
    "fr": frozenset({"le", "la", "l'", "les"}),
    "it": frozenset({"la", "le", "lo", "gli"}),
    **dict.fromkeys(("sv", "da", "nb", "no"), frozenset({"den", "det", "de"})),
}
"""Pronouns that are more often articles, by language code."""

BY_CHARACTERS = frozenset({"zh", "ja"})
"""Languages with a list whose texts are split into characters."""
LONGEST_BY_CHARACTERS = max(len(word) for language in BY_CHARACTERS for word in PRONOUNS[language])

PRONOUN_TAGS = frozenset({"PRON", "PRP", "PRP$"})
"""How Universal Dependencies and the Penn Treebank tag a pronoun."""

OTHER_TAGS = frozenset(
    "NOUN PROPN VERB ADJ ADV NUM INTJ ADP AUX SYM NN NNS NNP NNPS VB VBD VBG VBN VBP VBZ JJ RB CD UH IN MD".split()
)
"""Tags that rule out a pronoun. With all others (`DET`, as of possessives, or unknown tags) the word decides."""

TAG_LAYERS = ("upos", "pos", "xpos")


def is_pronoun(document: Document, span: Span) -> bool:
    """Whether a mention is a pronoun: one token with a pronoun's tag or, if the tag does not decide, a listed word.

    A document without a language counts as English. For a language without a list only tags decide. In languages that
    are split into characters, a listed word may have several tokens.
    """
    if span.start != span.end:
        several = len(span.parts) == 1 and span.width <= longest_pronoun(document)
        return several and _is_listed(document, span, PRONOUNS)
    for layer in TAG_LAYERS:
        tag = document.layers[layer][span.start] if layer in document.layers else ""
        if tag in PRONOUN_TAGS:
            return True
        if tag in OTHER_TAGS:
            return False
    return _is_listed(document, span, PRONOUNS)


def longest_pronoun(document: Document) -> int:
    """The number of tokens that a pronoun can have in the document's language."""
    return LONGEST_BY_CHARACTERS if _language(document) in BY_CHARACTERS else 1


def is_rather_article(document: Document, span: Span) -> bool:
    """Whether a span is a single word that can be a pronoun but is more often an article."""
    return span.start == span.end and _is_listed(document, span, RATHER_ARTICLES)


def _is_listed(document: Document, span: Span, lists: dict[str, frozenset[str]]) -> bool:
    words = "".join(document.tokens[span.start : span.end + 1]).lower().replace("’", "'")
    return words in lists.get(_language(document), frozenset())


def _language(document: Document) -> str:
    return (document.language or "en").split("-")[0].lower()
