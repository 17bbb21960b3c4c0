"""What to ask about in a text that the model knows little of, as in a language it has never seen.

There its mention scores say next to nothing, but the form of a span still does: of Spanish top spans whose words stand
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
"""With a smaller share of its words in mentions, a text is far from what the model knows. See docs/annotate.md."""


def share_in_mentions(document: Document, prediction: Prediction) -> float | None:
    """The share of a document's tokens in spans that the model takes for mentions; None if it does not say."""
    scores = prediction.mention_scores
    if scores is None or not len(document):
        return None
    spans = (span for span, score in zip(prediction.spans, scores.tolist(), strict=True) if score > 0)
    return len({token for span in spans for token in range(span.start, span.end + 1)}) / len(document)


def plausible_rows(document: Document, prediction: Prediction, function_words: Container[str] | None) -> Mask | None:
    """[N] the spans worth asking about, by their form; None if the model knows the text well enough to tell.

    They are pronouns, and words that stand several times; not function words such as "and", given in lower case.
    Without a list of these, everything is worth asking about.
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
