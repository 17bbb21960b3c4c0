"""What to ask about in a text that the model knows little about, such as one in a new language.

The model's mention scores mean little there, but the form of a span still helps: of Spanish top spans whose words occur
several times in a text, two in five are mentions; of the others, one in ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

import numpy as np

from corefine.annotation.revision import Mask
from corefine.document import Document, Span
from corefine.prediction import Prediction
from corefine.scores.pronouns import is_pronoun, is_rather_article

LEAST_SHARE = 0.08
"""Below this share of words in mentions, the model knows little about a text. docs/annotate.md has the measurements."""


def share_in_mentions(document: Document, prediction: Prediction) -> float | None:
    """The share of tokens in spans that the model takes for mentions; None if the model does not score mentions."""
    scores = prediction.mention_scores
    if scores is None or not len(document):
        return None
    spans = (span for span, score in zip(prediction.spans, scores.tolist(), strict=True) if score > 0)
    return len({token for span in spans for token in range(span.start, span.end + 1)}) / len(document)


def plausible_rows(document: Document, prediction: Prediction, function_words: Container[str] | None) -> Mask | None:
    """[N] the spans worth asking about, judged by their form; None if the model knows the text well enough.

    These are pronouns and words that occur several times, but not function words such as "and", given in lower case.
    Without a list of function words, all spans are worth asking about.
    """
    share = share_in_mentions(document, prediction)
    if function_words is None or share is None or share >= LEAST_SHARE:
        return None
    times = Counter(document.words(span).casefold() for span in prediction.spans)

    def is_plausible(span: Span) -> bool:
        if is_pronoun(document, span) and not is_rather_article(document, span):
            return True
        words = (document.tokens[token].lower() for part in span.parts for token in range(part.start, part.end + 1))
        return times[document.words(span).casefold()] > 1 and not all(word in function_words for word in words)

    return np.array([is_plausible(span) for span in prediction.spans], dtype=np.bool_)
