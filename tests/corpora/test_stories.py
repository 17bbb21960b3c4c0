"""The stories keep to their guidelines (docs/stories.md) and show what they are there to show."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, pairwise
from pathlib import Path

import pytest
import spacy

from corefine.corpora import stories
from corefine.document import Document, Span

NAMES = (
    "harbour", "court", "clinic", "kitchen", "trip", "radio",
    "bridge", "letter", "library", "heron", "core", "council",
)  # fmt: skip
FIRST = {"i", "me", "my", "myself"}
THIRD = {"he", "him", "his", "himself", "she", "her", "they", "them", "their"}
PRONOUNS = FIRST | THIRD | {"you", "your", "we", "us", "our"}
GROUP = {"they", "them", "their", "we", "us", "our"}

each_story = pytest.mark.parametrize("name", NAMES)


def story(name: str) -> Document:
    return next(document for document in stories.load() if document.name == name)


def entity(document: Document, words: str) -> tuple[Span, ...]:
    """The one cluster with a mention of exactly these words."""
    (found,) = (c for c in document.clusters if any(document.words(span) == words for span in c))
    return found


def sentence_of(document: Document, span: Span) -> int:
    return next(number for number, s in enumerate(document.sentence_spans) if s.start <= span.start <= s.end)


def text_of(document: Document, cluster: tuple[Span, ...]) -> list[str]:
    return [document.words(span) for span in cluster]


def is_pronoun(document: Document, span: Span) -> bool:
    return document.words(span).lower() in PRONOUNS


# The file


def test_a_dozen_with_names_of_their_own() -> None:
    assert tuple(document.name for document in stories.load()) == NAMES
    assert len({document.text for document in stories.load()}) == 12
    assert stories.path().name == "stories.jsonl"
    assert stories.path().is_file()


@each_story
def test_size_genre_and_language(name: str) -> None:
    document = story(name)
    assert 150 <= len(document) <= 400
    assert document.genre
    assert document.language == "en"


def test_genres_are_varied() -> None:
    assert len({document.genre for document in stories.load()}) >= 8


@each_story
def test_offsets_cover_the_text(name: str) -> None:
    document = story(name)
    assert document.text is not None
    assert document.offsets is not None
    assert [document.text[start:end] for start, end in document.offsets] == list(document.tokens)
    assert "".join(document.tokens) == "".join(document.text.split())


@each_story
def test_tokens_are_spacys(name: str) -> None:
    document = story(name)
    assert document.text is not None
    words = [token.text for token in spacy.blank("en")(document.text) if not token.is_space]
    assert words == list(document.tokens)


@each_story
def test_sentences_end_sensibly_and_keep_quotation_marks_with_what_they_quote(name: str) -> None:
    document = story(name)
    for sentence in document.sentences:
        assert sentence[-1] in {".", "?", "!", '"', ",", "Edmund"}
        assert sentence[0] == '"' or sentence[0][0].isupper()
        assert any(token[0].isalpha() for token in sentence)
        if sentence[-1] == '"':
            assert sentence[-2] in {".", "?", "!"}


# Boundaries


@each_story
def test_no_span_is_in_two_entities(name: str) -> None:
    document = story(name)
    spans = [span for cluster in document.clusters for span in cluster]
    assert len(spans) == len(set(spans))


@each_story
def test_mentions_nest_and_stay_within_a_sentence(name: str) -> None:
    document = story(name)
    for a, b in combinations(document.mentions, 2):
        assert b.start > a.end or b.end <= a.end or a.start == b.start, (document.words(a), document.words(b))
    for span in document.mentions:
        assert span.end <= document.sentence_spans[sentence_of(document, span)].end


@each_story
def test_mentions_begin_and_end_with_words(name: str) -> None:
    document = story(name)
    for span in document.mentions:
        for edge in (document.tokens[span.start], document.tokens[span.end]):
            assert edge == "'s" or edge[0].isalnum()
        assert document.tokens[span.start] != "'s"


@each_story
def test_the_possessive_s_is_inside_its_mention(name: str) -> None:
    document = story(name)
    for span in document.mentions:
        assert document.tokens[span.end + 1 : span.end + 2] != ("'s",), document.words(span)


@each_story
def test_no_mention_contains_its_own_entity_but_for_a_pronoun_in_its_relative_clause(name: str) -> None:
    document = story(name)
    for cluster in document.clusters:
        for a, b in pairwise(cluster):
            assert b.start > a.end or is_pronoun(document, b), (document.words(a), document.words(b))


def test_every_personal_pronoun_is_a_mention_but_for_those_that_refer_to_nobody_in_particular() -> None:
    left_out = defaultdict(list)
    for document in stories.load():
        marked = {span.start for span in document.mentions if span.width == 1}
        for index, token in enumerate(document.tokens):
            if token.lower() in PRONOUNS and index not in marked:
                left_out[document.name].append(" ".join(document.tokens[index : index + 2]))
    assert left_out == {
        "court": ["Your Honour"],
        "kitchen": ["them practical"],  # cooks
        "trip": ["them when", "they are"],  # teachers
        "radio": ["They are"],  # pianists
        "letter": ["us ,"],  # mankind
        "library": ["They told"],  # people
    }


@each_story
def test_an_entity_is_he_or_she_or_it(name: str) -> None:
    document = story(name)
    for cluster in document.clusters:
        words = {document.words(span).lower() for span in cluster}
        kinds = [{"he", "him", "his", "himself"}, {"she", "her"}, {"it", "its"}]
        assert sum(bool(kind & words) for kind in kinds) <= 1, words


def test_all_but_one_narrator_and_one_group_have_a_name_or_description() -> None:
    nameless = [
        (document.name, document.words(cluster[0]))
        for document in stories.load()
        for cluster in document.clusters
        if len(cluster) > 1 and all(is_pronoun(document, span) for span in cluster)
    ]
    assert nameless == [("trip", "I"), ("letter", "us")]


# What the stories are there to show


@each_story
def test_singletons_and_chains(name: str) -> None:
    sizes = Counter(len(cluster) for cluster in story(name).clusters)
    assert sizes[1] >= 4
    assert max(sizes) >= 7
    assert sum(count for size, count in sizes.items() if size > 1) >= 8


def test_nesting_three_deep_with_three_entities() -> None:
    document = story("harbour")
    boat, brother = entity(document, "Her brother 's boat"), entity(document, "Her brother 's")
    nora = entity(document, "Nora Pell , the town 's harbour master")
    assert len({boat, brother, nora}) == 3
    assert boat[0].start == brother[0].start
    assert Span(boat[0].start, boat[0].start) in nora
    assert "Davy" in text_of(document, brother)


def test_cataphora() -> None:
    """A third-person pronoun opens a cluster and its name follows in the same sentence."""
    found = {}
    for document in stories.load():
        for cluster in document.clusters:
            if len(cluster) > 1 and document.words(cluster[0]).lower() in THIRD:
                places = [sentence_of(document, span) for span in cluster[:2]]
                if places[0] == places[1] and not is_pronoun(document, cluster[1]):
                    found[document.name] = text_of(document, cluster[:2])
    assert found == {"clinic": ["she", "Dr. Amara Okafor"], "core": ["they", "Sam Ito"]}


@pytest.mark.parametrize(
    ("name", "words", "gap"),
    [
        ("heron", "a lame heron", 24),
        ("trip", "her brother Oliver", 15),
        ("kitchen", "the lady who cooked there", 15),
        ("core", "the empty shelf downstairs", 25),
        ("council", "The council of Ostrey", 25),
    ],
)
def test_far_antecedents(name: str, words: str, gap: int) -> None:
    document = story(name)
    cluster = entity(document, words)
    assert max(sentence_of(document, b) - sentence_of(document, a) for a, b in pairwise(cluster)) >= gap


@pytest.mark.parametrize(
    ("name", "group", "members"),
    [
        ("kitchen", "the cousins", ["Ines", "Marco"]),
        ("court", "The two men", ["the witness", "Pruitt"]),
        ("clinic", "She and Brandt", ["Dr. Amara Okafor", "Brandt"]),
        ("trip", "The Adeyemis", ["Mrs. Adeyemi", "Mr. Adeyemi"]),
        ("heron", "the girl and the bear", ["Linnet", "his white bear"]),
        ("core", "Sam and the professor", ["Sam Ito", "Professor Lund"]),
        ("council", "she and I", ["Greta Weir", "Anton Weir"]),
    ],
)
def test_a_group_is_an_entity_apart_from_its_members(name: str, group: str, members: list[str]) -> None:
    document = story(name)
    together = entity(document, group)
    assert GROUP & {words.lower() for words in text_of(document, together)}
    apart = {entity(document, member) for member in members}
    assert len(apart) == len(members)
    assert together not in apart


@pytest.mark.parametrize(("name", "person"), [("clinic", "Robin"), ("core", "Sam Ito")])
def test_singular_they(name: str, person: str) -> None:
    document = story(name)
    words = {words.lower() for words in text_of(document, entity(document, person))}
    assert {"they", "you", "i"} <= words


@pytest.mark.parametrize(
    ("name", "surname", "people"),
    [
        ("court", "Tobin", ["Mr. Tobin", "Elsie Tobin"]),
        ("trip", "Adeyemi", ["Mrs. Adeyemi", "Mr. Adeyemi"]),
        ("bridge", "Lindqvist", ["Ms. Lindqvist", "Mr. Lindqvist"]),
        ("letter", "Hart", ["Mrs. Hart", "Mr. Hart", "The buyers , a young couple called Hart"]),
        ("library", "Teague", ["Mrs. Teague", "Another Albert Teague"]),
        ("council", "Weir", ["Greta Weir", "Anton Weir"]),
    ],
)
def test_one_surname_several_people(name: str, surname: str, people: list[str]) -> None:
    document = story(name)
    named = {c for c in document.clusters if any(surname in words.split() for words in text_of(document, c))}
    assert named == {entity(document, person) for person in people}
    assert len(named) == len(people)


def test_titles() -> None:
    seen = {document.tokens[span.start] for document in stories.load() for span in document.mentions}
    assert seen >= {"Dr.", "Mr.", "Mrs.", "Ms.", "Miss", "Judge", "Captain", "Inspector", "Professor"}


@pytest.mark.parametrize(
    ("name", "described", "named"),
    [
        ("harbour", "A tall stranger in a grey coat", "Miss Marrin"),
        ("court", "a girl in the front row", "Elsie Tobin"),
        ("clinic", "a patient", "Robin"),
        ("library", "A man with a broken umbrella", "Albert"),
        ("radio", "My teacher", "Madame Orlova"),
    ],
)
def test_described_first_and_named_later(name: str, described: str, named: str) -> None:
    document = story(name)
    words = text_of(document, entity(document, named))
    assert words[0] == described
    assert words.index(named) > 0


@pytest.mark.parametrize(
    ("name", "kind", "particular"),
    [
        ("harbour", "Boats", "the boat"),
        ("court", "Blacksmiths", "the blacksmith in Coldharbour"),
        ("kitchen", "Cooks", "the lady who cooked there"),
        ("trip", "Teachers", "his wife"),
        ("radio", "pianists", "Ilse Kamm"),
        ("letter", "Houses", "The house"),
        ("library", "Doctors", "Holm"),
        ("heron", "Kings", "the king"),
        ("core", "Cores", "core nine"),
    ],
)
def test_a_kind_is_no_mention_though_one_of_it_is(name: str, kind: str, particular: str) -> None:
    document = story(name)
    index = document.tokens.index(kind)
    assert not any(span.start <= index <= span.end for span in document.mentions)
    assert entity(document, particular)


def test_organisations_and_places_are_entities() -> None:
    document = story("bridge")
    assert "The firm" in text_of(document, entity(document, "Stroud & Pike"))
    assert "The ministry" in text_of(document, entity(document, "the Ministry of Transport"))
    assert len(entity(document, "Halverton")) == 2


# Speakers


def test_which_stories_have_speakers() -> None:
    spoken = {document.name for document in stories.load() if document.speakers is not None}
    assert spoken == {"court", "radio", "council"}


@pytest.mark.parametrize(("name", "voices"), [("court", 4), ("radio", 2), ("council", 3)])
def test_a_speaker_is_one_entity(name: str, voices: int) -> None:
    """Whoever says I is the speaker, except in a quotation inside the turn."""
    document = story(name)
    assert document.speakers is not None
    assert len({speaker for speaker in document.speakers if speaker}) == voices
    quoting = name == "radio"
    heard: dict[str, set[int]] = defaultdict(set)
    for number, cluster in enumerate(document.clusters):
        for span in cluster:
            inside = document.tokens[: span.start].count('"') % 2 == 1
            speaker = document.speakers[span.start]
            if document.words(span).lower() in FIRST and speaker and not (quoting and inside):
                heard[speaker].add(number)
    assert len(heard) >= 2
    assert all(len(entities) == 1 for entities in heard.values())
    assert len(set.union(*heard.values())) == len(heard)


@pytest.mark.parametrize("name", ["court", "council"])
def test_what_is_narrated_has_no_speaker(name: str) -> None:
    document = story(name)
    assert document.speakers is not None
    inside = False
    for token, speaker in zip(document.tokens, document.speakers, strict=True):
        assert (speaker is not None) == (inside or token == '"')
        inside ^= token == '"'


# The documentation


def test_the_table_in_the_documentation_is_true() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stories.md").read_text(encoding="utf-8")
    for d in stories.load():
        counts = (len(d), len(d.sentence_starts), len(d.clusters), len(d.mentions))
        assert f"| {d.name} | {d.genre} | {' | '.join(map(str, counts))} |" in page
