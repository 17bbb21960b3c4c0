"""Initial weights that differ from torch's defaults."""

from __future__ import annotations

from torch import nn

from corefine.models.network.ranker import SpanRanker


def draw_as_allennlp(ranker: SpanRanker, encoder: nn.Module | None) -> None:
    """Draw weights as AllenNLP's configuration of the coreference model does.

    The layers of both scorers, the embeddings of width and distance, and the input weights of the LSTM get Xavier's
    normal distribution. The recurrent weights of the LSTM get orthogonal matrices. The rest is not changed.
    """
    scorers = (ranker.spans, ranker.pair)
    layers = [layer for scorer in scorers for layer in (scorer.first, *scorer.deeper, scorer.score)]
    for each in (*layers, ranker.spans.widths, ranker.pair.distances):
        nn.init.xavier_normal_(each.weight)
    for lstm in (part for whole in (ranker, encoder) if whole is not None for part in whole.modules()):
        if isinstance(lstm, nn.LSTM):
            for name, weight in lstm.named_parameters():
                if name.startswith("weight_ih"):
                    nn.init.xavier_normal_(weight)
                elif name.startswith("weight_hh"):
                    nn.init.orthogonal_(weight)
