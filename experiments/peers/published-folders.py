# SPDX-License-Identifier: MIT
"""Compares whole published models, from text to text, with the vocabularies that are published with their weights.

Makes folders like those of published BART and Marian models (config.json, tokenizer files learnt from the text below,
random weights). Takes the vocabulary by plait vocabulary --published and the weights by train.initialise. Compares
log-probabilities of lines and translations of beam search with transformers, and log-probabilities with CTranslate2
after an export. Needs sentencepiece and the packages of published.py.

    V/bin/python published-folders.py --plait BUILD/plait
"""

import argparse
import json
import os
import random
import sys
import tempfile

import ctranslate2
import sentencepiece
import tokenizers
import torch
import transformers

from published import COMMON, EXPERIMENT, HEADS, INNER, LAYOUTS, LIMIT, LONGEST, PLACES, WIDTH, export, plait, scatter

WORDS = "the a cat dog house Haus König élan sees runs, quickly. über straße 3.14 (maybe) don't - 日本 very\u00a0odd 🙂".split(" ")
SHAPE = dict(
    d_model=WIDTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
    encoder_ffn_dim=INNER, decoder_ffn_dim=INNER, max_position_embeddings=PLACES, forced_eos_token_id=None)


def bart(folder, lines):
    """Returns tokenizer and model of a folder like that of a published BART."""
    learnt = tokenizers.ByteLevelBPETokenizer()
    learnt.train_from_iterator(lines, vocab_size=330, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    learnt.save_model(folder)
    tokenizer = transformers.BartTokenizer(os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt"))
    config = transformers.BartConfig(vocab_size=learnt.get_vocab_size(), **SHAPE)
    return tokenizer, transformers.BartForConditionalGeneration(config)


def marian(folder, lines):
    """Returns tokenizer and model of a folder like that of a published Marian: vocab.json orders the pieces differently
    from source.spm."""
    model = os.path.join(folder, "source")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=model, vocab_size=90, hard_vocab_limit=False, minloglevel=2)
    os.rename(model + ".model", model + ".spm")
    with open(model + ".spm", "rb") as source, open(os.path.join(folder, "target.spm"), "wb") as target:
        target.write(source.read())
    learnt = sentencepiece.SentencePieceProcessor(model_file=model + ".spm")
    pieces = [learnt.id_to_piece(i) for i in range(3, learnt.get_piece_size())]
    random.shuffle(pieces)
    ids = {piece: i for i, piece in enumerate(["</s>", "<unk>"] + pieces + ["<pad>"])}
    with open(os.path.join(folder, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(ids, file, ensure_ascii=False)
    tokenizer = transformers.MarianTokenizer(
        *(os.path.join(folder, name) for name in ("source.spm", "target.spm", "vocab.json")))
    pad = ids["<pad>"]
    config = transformers.MarianConfig(
        vocab_size=len(ids), pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, activation_function="swish",
        scale_embedding=True, **SHAPE)
    return tokenizer, transformers.MarianMTModel(config)


# Published vocabulary of each stream, as Marian has two. The embeddings are then two tables with equal values.
KINDS = {
    "bart": (bart, {"a": ".", "b": "."}),
    "marian": (marian, {"a": "source.spm", "b": "target.spm"}),
}


def make_run(program, folder, name, vocabularies, lines):
    for split in ("train", "test"):
        for stream in vocabularies:
            with open(os.path.join(folder, f"{split}.{stream}"), "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
    for stream, published in vocabularies.items():
        plait(program, folder, "vocabulary", "--published", published, "--output", f"words.{stream}")
    text = EXPERIMENT.format(
        data="", common=COMMON, source=LAYOUTS[name].source, decoder=LAYOUTS[name].decoder, width=WIDTH, map=name,
        longest=LONGEST)
    text = text.replace("vocabulary_type=words\n", "").replace("vocabulary=shared\n", "vocabulary=separate\n")
    text = text.replace("vocabulary.shared=words\n", "vocabulary.a=words.a\nvocabulary.b=words.b\n")
    with open(os.path.join(folder, "run.ini"), "w", encoding="ascii") as file:
        file.write(text)
    plait(program, folder, "run", "run.ini", "--quiet")


def log_probability(model, tokenizer, line):
    labels = tokenizer(text_target=line).input_ids
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor([tokenizer(line).input_ids]),
            decoder_input_ids=torch.tensor([[model.config.decoder_start_token_id] + labels[:-1]])).logits[0].double()
    return torch.log_softmax(logits, -1)[range(len(labels)), labels].sum().item()


def search(model, tokenizer, line):
    """Returns the translation of beam search, or None if it does not end."""
    with torch.no_grad():
        found = model.generate(
            torch.tensor([tokenizer(line).input_ids]), num_beams=4, do_sample=False, max_new_tokens=LONGEST, min_length=0,
            length_penalty=1.0, early_stopping=True, suppress_tokens=[model.config.pad_token_id])[0].tolist()[1:]
    if model.config.eos_token_id not in found:
        return None
    return tokenizer.decode(found, skip_special_tokens=True, clean_up_tokenization_spaces=False).strip()


def compare(program, name, lines):
    make, vocabularies = KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer, model = make(folder, lines)
        scatter(model)
        if tokenizer.mask_token_id is not None:  # keeps the mask token out of translations
            model.final_logits_bias[0, tokenizer.mask_token_id] = -30
        model.save_pretrained(folder)
        os.rename(os.path.join(folder, "model.safetensors"), os.path.join(folder, "weights.safetensors"))
        make_run(program, folder, name, vocabularies, lines)
        texts = ("--source", "a=test.a", "--quiet")
        scores = [
            float(line.split()[0])
            for line in plait(program, folder, "score", "run.h5", "--target", "test.b", *texts).splitlines()]
        apart = max(abs(ours - log_probability(model, tokenizer, line)) for ours, line in zip(scores, lines))
        print(f"{name}: log-probabilities of {len(scores)} lines differ by at most {apart:.1e}")
        found = plait(program, folder, "translate", "run.h5", "--beam", "4", *texts).splitlines()
        ended = [(ours.strip(), theirs) for ours, theirs in zip(found, (search(model, tokenizer, line) for line in lines))
                 if theirs is not None]
        same = sum(ours == theirs for ours, theirs in ended)
        print(f"{name}: {same} of {len(ended)} translations that end are equal")
        export(program, folder)
        translator = ctranslate2.Translator(os.path.join(folder, "model"), compute_type="float32", intra_threads=1)
        special = set(tokenizer.all_special_tokens) - {tokenizer.unk_token}
        sources = [[piece for piece in tokenizer.tokenize(line) if piece not in special] for line in lines]
        begins = tokenizer(lines[0]).input_ids[:1] == [tokenizer.bos_token_id]
        targets = [(["<s>"] if begins else []) + pieces for pieces in sources]
        theirs = [sum(result.log_probs) for result in translator.score_batch(sources, targets)]
        apart2 = max(abs(a - b) for a, b in zip(scores, theirs))
        print(f"{name}: log-probabilities of {len(theirs)} lines differ from CTranslate2's by at most {apart2:.1e}")
    return max(apart, apart2) < LIMIT and len(scores) == len(lines) and 0 < same == len(ended)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plait", required=True)
    options = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    lines = [" ".join(random.choice(WORDS) for _ in range(random.randint(1, 6))) for _ in range(40)]
    results = [compare(os.path.abspath(options.plait), name, lines) for name in KINDS]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
