"""fastcoref's side of the comparison: a script for an environment that has fastcoref and not corefine.

    python -I fastcoref_side.py DOCUMENTS.json THREADS TOKENS_IN_BATCH

It builds the published architecture from its configuration, with random weights, on which speed does not depend, and a
byte-level BPE tokenizer made from the very documents, which cuts words into fewer pieces than the published one would:
in fastcoref's favour. Then, for each line on standard input, it predicts all documents and writes a line of JSON.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sized
from importlib import import_module
from pathlib import Path

HEAD = {"max_span_length": 30, "top_lambda": 0.25, "ffnn_size": 1024, "dropout_prob": 0.3, "max_segment_len": 512}
LAYERS, HIDDEN, VOCABULARY = 6, 768, 50_265
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def build(folder: Path, documents: list[list[str]]) -> None:
    """The model of distilroberta's size with fastcoref's head, and its tokenizer, on disk as fastcoref wants them."""
    modeling = import_module("fastcoref.coref_models.modeling_fcoref")
    transformers = import_module("transformers")
    from tokenizers import ByteLevelBPETokenizer

    bpe = ByteLevelBPETokenizer(add_prefix_space=True)
    texts = (" ".join(tokens) for tokens in documents)
    bpe.train_from_iterator(texts, vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False)
    bpe.save_model(str(folder))
    names = {"vocab_file": str(folder / "vocab.json"), "merges_file": str(folder / "merges.txt")}
    transformers.RobertaTokenizerFast(**names, add_prefix_space=True).save_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=12,
        intermediate_size=4 * HIDDEN,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    config.coref_head = HEAD
    modeling.FCorefModel(config).save_pretrained(folder)


def peak_megabytes() -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return float(line.split()[1]) / 2**10


def main(documents_file: str, threads: str, tokens_in_batch: str) -> None:
    import torch

    torch.set_num_threads(int(threads))
    fastcoref = import_module("fastcoref")
    logging.disable(logging.CRITICAL)
    documents = json.loads(Path(documents_file).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), documents)
        model = fastcoref.FCoref(folder, device="cpu", nlp=None, enable_progress_bar=False)
    import_module("datasets").disable_progress_bars()
    size = int(tokens_in_batch)
    serve(lambda: model.predict(documents, is_split_into_words=True, max_tokens_in_batch=size))


def serve(predict: Callable[[], Sized]) -> None:
    """Say that all is ready; then predict and write the times, for each line on standard input."""
    say({"ready": True})
    for _ in sys.stdin:
        began, cpu = time.perf_counter(), time.process_time()
        results = predict()
        times = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu}
        say(times | {"documents": len(results), "megabytes": peak_megabytes()})


def say(message: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(dict(message)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
