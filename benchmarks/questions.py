"""Are the questions worth a person's time? The first questions of the app on three kinds of text, judged by gold.

    python benchmarks/questions.py --corpora FOLDER [--log questions.jsonl]
    python benchmarks/questions.py --corpora FOLDER --judge questions.jsonl    # those that another version asked

Gold labels answer as people would, with the default settings of a project, document after document, until 60 questions
are asked on the bundled stories, on LitBank's test documents and on those of AnCora (Spanish). A question is not worth
asking if its mention or what it proposes is no gold mention (of a group: half of its mentions or more), if the same
words, other than a pronoun, were asked about before in the document, or if the model gives its proposal less than 5 %.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from command import Bar, Corpora, Json, corpora_folder, missed, report, run
from corefine.annotation.annotators import GoldAnnotator
from corefine.annotation.question import Question, span_from_json, span_to_json
from corefine.corpora import load_corpus, stories
from corefine.document import Document, Span
from corefine.files import home_folder
from corefine.models.load import load
from corefine.project.store.settings import ProjectConfig
from corefine.project.work.open_document import restore_session
from corefine.scores.pronouns import is_pronoun

LITTLE = 0.05
BEFORE = {"stories": (30.0, 1.7, 5.0), "litbank": (55.0, 10.0, 20.0), "corefud_es_ancora": (75.0, 33.3, 26.7)}
"""Of the first 60 questions, the percentages that an earlier version had: no mention, repeats, unlikely."""
TEXTS = tuple(BEFORE)


@dataclass(frozen=True, slots=True)
class Judged:
    """Shares of a text's questions, in percent.

    no_mention    the mention or the proposal is no gold mention
    repeats       the same words were asked about before in the document
    unlikely      the proposal has less than 5 %
    mentions      how many mentions were asked about, groups counted in full
    """

    text: str
    questions: int
    documents: int
    no_mention: float
    repeats: float
    unlikely: float
    mentions: int


@dataclass(frozen=True, slots=True)
class QuestionsJudged:
    texts: tuple[Judged, ...]

    @property
    def failure(self) -> str | None:
        """The bars are half of what an earlier version had."""
        bars = []
        for each in self.texts:
            found = (("no mention", each.no_mention), ("repeats", each.repeats), ("unlikely", each.unlikely))
            for (name, value), before in zip(found, BEFORE[each.text], strict=True):
                bars.append(Bar(f"{each.text}: {name}, %", value, "below", before / 2 + 0.01))
        return missed(*bars)


def documents_of(text: str, corpora: Path | None) -> Sequence[Document]:
    if text == "stories":
        return stories.load()
    corpus = load_corpus(text, mirror=corpora)
    return corpus.test or corpus.dev  # CorefUD keeps its test documents to itself


def ask(text: str, documents: Iterable[Document], questions: int, model: str) -> Iterator[dict[str, Any]]:
    """Ask as the app does, and log each question."""
    predict = load(model, cache=home_folder() / "states").model.predict
    asked = 0
    for document in documents:
        if asked == questions:
            return
        bare = document.with_clusters([])
        session = restore_session(bare, [], predict(bare), ProjectConfig())
        annotator = GoldAnnotator(document)
        while asked < questions and (question := session.next_question()) is not None:
            yield logged(text, document, question)
            session.answer(annotator.answer(question))
            asked += 1


def logged(text: str, document: Document, question: Question) -> dict[str, Any]:
    return {
        "text": text,
        "document": document.key,
        "mention": span_to_json(question.mention),
        "antecedent": None if question.antecedent is None else span_to_json(question.antecedent),
        "group": [span_to_json(span) for span in question.group],
        "probability": question.probability,
    }


def judge(text: str, documents: Iterable[Document], rows: Sequence[dict[str, Any]]) -> Judged:
    """Judge the logged questions about a text."""
    by_key = {document.key: document for document in documents}
    gold = {key: set(document.mentions) for key, document in by_key.items()}
    seen: set[tuple[str, str]] = set()
    no_mention = repeats = unlikely = mentions = 0
    for row in rows:
        key = row["document"]
        document = by_key[key]
        mention, *rest = (span_from_json(each) for each in (row["mention"], row["antecedent"]) if each is not None)
        group = [span_from_json(each) for each in row.get("group", ())]
        no_mention += _is_wrong(gold[key], mention, rest, group)
        words = (key, document.words(mention).casefold())
        repeats += words in seen and not is_pronoun(document, mention)
        seen.add(words)
        unlikely += bool(rest or group) and row["probability"] < LITTLE
        mentions += len(group) or 1
    share = 100 / max(1, len(rows))
    return Judged(
        text=text,
        questions=len(rows),
        documents=len({row["document"] for row in rows}),
        no_mention=share * no_mention,
        repeats=share * repeats,
        unlikely=share * unlikely,
        mentions=mentions,
    )


def _is_wrong(gold: set[Span], mention: Span, proposed: Iterable[Span], group: Sequence[Span]) -> bool:
    if group:
        return 2 * sum(span not in gold for span in group) >= len(group)
    return any(span not in gold for span in (mention, *proposed))


def described(result: QuestionsJudged) -> str:
    lines = ["text                 questions  documents  mentions  no mention  repeats  under 5 %"]
    for each in result.texts:
        shares = f"{each.no_mention:9.1f} %  {each.repeats:5.1f} %  {each.unlikely:7.1f} %"
        lines.append(f"{each.text:20} {each.questions:9}  {each.documents:9}  {each.mentions:8} {shares}")
    return "\n".join(lines)


def main(
    questions: Annotated[int, typer.Option(min=1, help="Questions for each text.")] = 60,
    model: Annotated[str, typer.Option(help="The model that asks.")] = "starter",
    corpora: Corpora = None,
    log: Annotated[Path | None, typer.Option(help="Write the questions to this file.")] = None,
    judged: Annotated[Path | None, typer.Option("--judge", help="Judge the questions in this file.")] = None,
    *,
    json_: Json = False,
) -> None:
    rows: list[dict[str, Any]] = []
    if judged is not None:
        rows = [json.loads(line) for line in judged.read_text("utf-8").splitlines()]
    results = []
    for text in TEXTS:
        documents = documents_of(text, corpora_folder(corpora))
        if judged is None:
            rows += ask(text, documents, questions, model)
        results.append(judge(text, documents, [row for row in rows if row["text"] == text]))
    if log is not None:
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    report(QuestionsJudged(tuple(results)), described, as_json=json_)


if __name__ == "__main__":
    run(main)
