"""What to ask about in a text that the model knows little about, such as one in a new language.

The model's mention scores mean little there, but the form of a span still helps. Of Spanish top spans whose words occur
several times in a text, two in five are mentions; of the others, one in ten. Some of the former are hardly ever
mentions either, in Spanish (AnCora), Russian (RuCor) and Dutch (OpenBoek): single words in lower case (9, 10 and 8 %),
words that occur only as part of the same longer expression, as "el Rey" in "la Copa de el Rey" (11, 1 and 6 %), and
words that end with a function word (0 %).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

import numpy as np

from corefine.annotation.revision import Mask
from corefine.document import Document, Span
from corefine.prediction import Prediction
from corefine.scores.pronouns import is_pronoun, is_rather_article

LEAST_SHARE = 0.08
"""Below this share of words in mentions, the model knows little about a text. docs/annotate.md has the measurements."""
FARTHEST = 3
"""How far away the content word may stand that makes a longer expression."""


def share_in_mentions(document: Document, prediction: Prediction) -> float | None:
    """The share of tokens in spans that the model takes for mentions; None if the model does not score mentions."""
    scores = prediction.mention_scores
    if scores is None or not len(document):
        return None
    spans = (span for span, score in zip(prediction.spans, scores.tolist(), strict=True) if score > 0)
    return len({token for span in spans for token in range(span.start, span.end + 1)}) / len(document)


def plausible_rows(document: Document, prediction: Prediction, function_words: Container[str] | None) -> Mask | None:
    """[N] the spans worth asking about, judged by their form; None if the model knows the text well enough.

    These are pronouns and words that occur several times. Not worth asking about are single words in lower case, words
    that end with a function word such as "and", and parts of a longer expression. Of spans that differ only in function
    words at the beginning, only one is: that with one such word, as "la UE" of "UE", "la UE" and "de la UE". Function
    words are given in lower case; without a list of them, all spans are worth asking about.
    """
    share = share_in_mentions(document, prediction)
    if function_words is None or share is None or share >= LEAST_SHARE:
        return None
    times = Counter(document.words(span).casefold() for span in prediction.spans)
    text = _Text(document, function_words)
    pronouns, repeated = set[Span](), set[Span]()
    for span in prediction.spans:
        if is_pronoun(document, span) and not is_rather_article(document, span):
            pronouns.add(span)
        elif times[document.words(span).casefold()] > 1 and text.is_like_a_name(span) and not text.is_part(span):
            repeated.add(span)
    plausible = pronouns | text.with_article(repeated)
    return np.array([span in plausible for span in prediction.spans], dtype=np.bool_)


class _Text:
    """The words of a document in lower case, and where each of them stands."""

    def __init__(self, document: Document, function_words: Container[str]) -> None:
        self._tokens = document.tokens
        self.words = [token.lower() for token in document.tokens]
        self._function_words = function_words
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self._places.setdefault(word, []).append(place)

    def is_like_a_name(self, span: Span) -> bool:
        """Whether these may be the words of a mention: not one word in lower case, and no function word at the end."""
        alone = span.start == span.end
        return not (self._is_function_word(span.end) or (alone and self._tokens[span.start].islower()))

    def with_article(self, spans: Iterable[Span]) -> set[Span]:
        """One of the spans that differ only in function words at the beginning: best with one such word."""
        best: dict[tuple[int, int], tuple[bool, int, Span]] = {}
        for span in spans:
            content = next(place for place in range(span.start, span.end + 1) if not self._is_function_word(place))
            before = content - span.start
            key, rank = (content, span.end), (before != 1, before, span)
            best[key] = min(best.get(key, rank), rank)
        return {span for _, _, span in best.values()}

    def is_part(self, span: Span) -> bool:
        """Whether the words occur only within the same longer expression: always beside the same content word."""
        words = self.words[span.start : span.end + 1]
        starts = [place for place in self._places[words[0]] if self.words[place : place + len(words)] == words]
        ends = [start + len(words) - 1 for start in starts]
        return self._same_beside(starts, -1) or self._same_beside(ends, 1)

    def _same_beside(self, places: list[int], step: int) -> bool:
        """Whether the same content word stands beside all places; there may be function words between."""
        for distance in range(1, FARTHEST + 1):
            others = [place + step * distance for place in places]
            if min(others) < 0 or max(others) >= len(self.words):
                return False
            word = self.words[others[0]]
            if any(self.words[other] != word for other in others) or not any(map(str.isalnum, word)):
                return False
            if not self._is_function_word(others[0]):
                return True
        return False

    def _is_function_word(self, place: int) -> bool:
        return self.words[place] in self._function_words
