"""Where runs depart from the paper, read from their settings, for the report. docs/method.md gives the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from corefine.models.network.config import EncoderConfig, HeadConfig
from corefine.models.training.recipe import Recipe, TrainingConfig, load_recipe
from corefine.reproduction.table import Table
from corefine.simulation.runs import flat
from corefine.simulation.summary import RunRecord

CORPUS_DOCUMENTS = 2802
CORPUS = "CoNLL-2012 English (2,802 training documents of about 465 tokens)"

WORDS = "GloVe 6B (300 numbers a word)"
ALLENNLP = "as in AllenNLP's configuration (recipe paper)"

SHOWN = frozenset(
    "model.encoder.kind model.encoder.path model.encoder.fine_tune model.encoder.word_width "
    "model.head.candidates model.head.candidates_predicted model.head.coarse_to_fine model.head.coarse_window "
    "model.head.decoding model.head.within_sentences training.epochs training.min_steps training.patience "
    "training.schedule training.plateau_patience training.plateau_factor training.ema training.mention_loss "
    "training.labels training.rest rounds.epochs rounds.min_steps rounds.patience".split()
)
"""Settings of a recipe that rows of their own show."""
ALIKE = frozenset("training.seed training.save_every model.head.threshold model.head.temperature".split())
"""Settings of a recipe that are no departure: seeds, and what training itself finds."""

Reader = Callable[[RunRecord], str]


def departures(corpus: str, records: Sequence[RunRecord]) -> Table:
    """What differs from the paper in the discrete runs, or in all runs if there are no discrete ones."""
    plain = [record for record in records if record.kind == "discrete"] or list(records)
    rows = []
    for name, theirs, read in _read_from():
        ours = list(dict.fromkeys(read(record) for record in plain))
        if ours != [theirs]:
            rows.append((name, theirs, "; ".join(ours)))
    return Table(
        f"{corpus}: where these runs depart from the paper",
        "Everything else is as in the paper. docs/method.md gives the reasons under “Where we depart, and why”.",
        ("", "the paper", "here"),
        tuple(rows),
    )


def _read_from() -> Iterator[tuple[str, str, Reader]]:
    """What the paper did, and a function that reads from a run what that run did."""
    yield "corpus", CORPUS, _corpus
    yield (
        "encoder",
        f"BiLSTM over {WORDS} and characters, trained",
        lambda run: _of(run, lambda recipe: _encoder(recipe.model.encoder)),
    )
    yield "other settings of the model and its training", ALLENNLP, _others
    yield "budgets", "questions a document", lambda run: run.unit
    yield "labelled first", "25 %", lambda run: f"{100 * run.settings.initial:g} %"
    yield "annotated in each round", "10 %", _round
    yield "training within rounds", "to convergence on everything: at most 20 epochs, patience 2", _rounds
    yield "last training", "from scratch: at most 150 epochs, patience 10", _last
    yield "learning rate", "Adam, halved on plateaus", lambda run: _of(run, lambda recipe: _schedule(recipe.training))
    yield "mention loss", "none", lambda run: _of(run, lambda recipe: _mention_loss(recipe.training))
    yield "spans", "within sentences", lambda run: _of(run, lambda recipe: _spans(recipe.model.head))
    yield "candidates", "the nearest 100", lambda run: _of(run, lambda recipe: _candidates(recipe.model.head))
    yield "linked if", "an antecedent is the most probable outcome (argmax)", _decoding
    yield "what unanswered mentions teach", "as much as answered ones (pseudo)", _labels
    yield "pronouns", "by spaCy's tagger", _pronouns
    yield "equal time", "all are compared by time", _time


def _of(run: RunRecord, describe: Callable[[Recipe], str]) -> str:
    """A description of the run's recipe; rules have none."""
    return "nothing is trained: rules" if run.recipe is None else describe(run.recipe)


def _corpus(run: RunRecord) -> str:
    asked = run.asked
    tokens = sum(each.tokens for each in asked) / max(1, sum(each.documents for each in asked))
    documents = run.info.corpus.train
    if documents == CORPUS_DOCUMENTS:
        return CORPUS
    return f"{run.corpus} ({documents:,} training documents of about {round(tokens, -2):.0f} tokens)"


def _encoder(encoder: EncoderConfig) -> str:
    if encoder.kind == "bilstm":
        return f"BiLSTM over {_words(encoder)} and characters, trained"
    return f"{encoder.path or encoder.kind}, {'trained' if encoder.fine_tune else 'frozen'}"


def _words(encoder: EncoderConfig) -> str:
    name = Path(encoder.path or "hashed words").name
    return (
        WORDS
        if (name[:8], encoder.word_width) == ("glove.6B", 300)
        else f"{name} ({encoder.word_width} numbers a word)"
    )


def _others(run: RunRecord) -> str:
    """The settings that differ from the recipe `paper` and have no row. Settings added since the run are left out."""
    if run.recipe is None:
        return "nothing is trained: rules"
    theirs = flat(load_recipe("paper").to_dict())
    apart = SHOWN | ALIKE
    if run.recipe.model.encoder.kind != "bilstm":
        apart |= {name for name in theirs if name.startswith("model.encoder.")}
    if not run.recipe.model.encoder.fine_tune:
        apart |= {"training.encoder_learning_rate", "training.layer_decay"}
    ours = {name: value for name, value in flat(run.info.recipe).items() if name in theirs and name not in apart}
    return ", ".join(f"{name} = {value}" for name, value in ours.items() if value != theirs[name]) or ALLENNLP


def _round(run: RunRecord) -> str:
    share = run.settings.documents_per_round / max(1, run.settings.documents or run.info.corpus.train)
    return f"{100 * share:.0f} %" if run.settings.documents_per_round else "10 %"


def _rounds(run: RunRecord) -> str:
    settings = run.settings
    if settings.round_training == "shortcut":
        return f"shortcut: {settings.round_epochs} epochs on at most {settings.round_documents or 'all'} documents"
    within = "to convergence on everything"
    return _of(run, lambda recipe: f"{within}: {_epochs(recipe.rounds.applied_to(recipe.training))}")


def _last(run: RunRecord) -> str:
    begin = "from the first model" if run.settings.start == "first" else "from scratch"
    return _of(run, lambda recipe: f"{begin}: {_epochs(recipe.training)}")


def _epochs(training: TrainingConfig) -> str:
    stop = f"patience {training.patience}" if training.patience else "the best of all"
    least = f", at least {training.min_steps:,} steps" if training.min_steps else ""
    return f"at most {training.epochs} epochs, {stop}{least}"


def _schedule(training: TrainingConfig) -> str:
    if training.schedule == "plateau":
        return f"Adam, {'halved' if training.plateau_factor == 0.5 else 'lowered'} on plateaus"
    mean = f", running mean of weights ({training.ema:g})" if training.ema else ""
    return f"AdamW, {training.schedule}{mean}"


def _mention_loss(training: TrainingConfig) -> str:
    return f"{training.mention_loss:g} times" if training.mention_loss else "none"


def _spans(head: HeadConfig) -> str:
    return "within sentences" if head.within_sentences else "also across sentences"


def _candidates(head: HeadConfig) -> str:
    predicted = f", in prediction {head.candidates_predicted}" if head.candidates_predicted else ""
    return f"the {'best' if head.coarse_to_fine else 'nearest'} {head.candidates}{predicted}"


def _decoding(run: RunRecord) -> str:
    """Earlier versions had no such setting and always used `half`."""
    model = (run.info.recipe or {}).get("model", {})
    found = model.get("decoding") or model.get("head", {}).get("decoding") or "half"
    return {
        "argmax": "an antecedent is the most probable outcome (argmax)",
        "half": "epsilon has less than half of the probability (half)",
        "sums": "an entity's antecedents together are more probable than epsilon (sums)",
    }[found]


def _labels(run: RunRecord) -> str:
    return {
        "pseudo": "as much as answered ones (pseudo)",
        "mix": f"{run.settings.rest:g} times as much as answered ones (mix)",
    }.get(run.settings.labels, run.settings.labels)


def _pronouns(run: RunRecord) -> str:
    """The paper does not say which pipeline."""
    return (
        f"by spaCy's {run.settings.tagger}"
        if run.settings.tagger
        else "by parts of speech in the corpus, or word lists"
    )


def _time(run: RunRecord) -> str:
    return {
        "every": "all are compared by time",
        "pairwise": "pairwise and fully labelled only; others by questions",
        "off": "only fully labelled; others by questions",
    }[run.settings.equal_time]
