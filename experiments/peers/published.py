# SPDX-License-Identifier: MIT
"""Compares plait with transformers and CTranslate2 over published weights.

Makes models with random weights by the package transformers, saves them as safetensors, and lets plait begin with them
by the shipped name maps. Compares log-probabilities of given targets and of RoBERTa's masked tokens, and the outputs of
greedy and beam search. Words of the vocabulary are numbers, so no tokenizer is involved. The translation models, and
two that plait trains from the start, are exported to CTranslate2; their log-probabilities and greedy outputs are
compared. Outputs that reach the length limit are left out: transformers does not end them, plait does.

    python3 -m venv V && V/bin/pip install torch transformers safetensors ctranslate2
    V/bin/python published.py --plait BUILD/plait
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import ctranslate2
import torch
import transformers

WORDS, WIDTH, HEADS, INNER, PLACES, LONGEST = 36, 32, 4, 48, 40, 20
SPECIALS = 4
LIMIT = 1e-4

COMMON = f"""
layers=2
heads={HEADS}
feed_forward={INNER}
dropout=0
attention_dropout=0
feed_forward_dropout=0
attention_bias=true
"""

EXPERIMENT = """[data]
train.a=train.a
train.b=train.b
test.a=test.a
test.b=test.b
target=b
vocabulary_type=words
vocabulary=shared
vocabulary.shared=words
{data}
[source a]
encoder=transformer
{common}{source}
[decoder]
combiner=serial
width={width}
norm=post
norm_epsilon=1e-5
output_bias=true
{common}{decoder}
[train]
batch=4
updates=1
learning_rate=0
initialise=weights.safetensors
initialise_map={map}
[decode]
ranking=final
finished=refill
length_normalisation=average
minimum_length=0
maximum_length={longest}
maximum_ratio=0
alpha=1
"""

# All tokens are to be predicted and none is replaced (mask_share=0), so they can be compared with RoBERTa's output.
MASKED = """[data]
train.a=train.a
test.a=test.a
target=a
vocabulary_type=words
vocabulary=shared
vocabulary.shared=words
[predict]
kind=masked
mask_rate=1
mask_share=0
random_share=0
[source a]
encoder=transformer
{common}{source}
[decoder]
width={width}
norm=post
norm_epsilon=1e-5
scale_embeddings=false
[train]
batch=4
updates=1
learning_rate=0
initialise=weights.safetensors
initialise_map=roberta
"""

# An experiment without a published model: pre-norm, the default of plait.
PLAIN = (EXPERIMENT.replace("norm=post\nnorm_epsilon=1e-5\noutput_bias=true\n", "")
         .replace("updates=1\nlearning_rate=0\ninitialise=weights.safetensors\ninitialise_map={map}\n",
                  "updates=150\nschedule=constant\nwarm_up=0\nlearning_rate=0.005\n"))


class Layout:
    """A kind of model: the keys of plait, and the published id of each of plait's ids (padding, BOS, EOS, unknown,
    words)."""

    def __init__(self, name, ids, source, decoder, data="", documents=False, tied=True):
        self.name, self.ids, self.source, self.decoder, self.data = name, ids, source, decoder, data
        self.documents, self.tied = documents, tied
        self.title = name if tied else f"{name}, untied"

    def untied(self):
        return Layout(self.name, self.ids, self.source, self.decoder + UNTIED, self.data, self.documents, False)

    def theirs(self, ids):
        return [self.ids[i] for i in ids]

    def ours(self, ids):
        return [self.ids.index(i) for i in ids if i in self.ids]


UNTIED = "share_embeddings=false\ntie_output=false\n"
LEARNED = f"positions=learned\nposition_limit={PLACES}\nembedding_norm=true\nactivation=gelu\n"
LAYOUTS = {
    "bart": Layout(
        "bart", [1, 0, 2, 3] + list(range(4, 4 + WORDS)), LEARNED, LEARNED + "scale_embeddings=false\nstart=eos\n",
        "documents=a\ndocument_starts=sources\n", True),
    "marian": Layout(
        "marian", [WORDS + 2, None, 0, 1] + list(range(2, 2 + WORDS)), "positions=halves\nactivation=swish\n",
        "positions=halves\nactivation=swish\nstart=pad\n"),
}

LAYOUTS.update({f"{name}-untied": layout.untied() for name, layout in LAYOUTS.items()})


def scatter(model):
    """Sets every parameter, also gains and biases, to values so large that no distribution is nearly uniform."""
    with torch.no_grad():
        for name, value in model.named_parameters():
            if not value.requires_grad:  # sinusoids are fixed
                continue
            gain = "norm" in name.lower() and name.endswith("weight")
            value.copy_(torch.randn_like(value) * (0.1 if gain else 0.25) + (1 if gain else 0))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, model.config.eos_token_id] = 5  # so that outputs end
    return model.eval()


def make(layout):
    shape = dict(
        d_model=WIDTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
        encoder_ffn_dim=INNER, decoder_ffn_dim=INNER, max_position_embeddings=PLACES, forced_eos_token_id=None,
        tie_word_embeddings=layout.tied)
    if layout.name == "bart":
        config = transformers.BartConfig(vocab_size=WORDS + 4, **shape)
        return scatter(transformers.BartForConditionalGeneration(config))
    pad = WORDS + 2
    config = transformers.MarianConfig(
        vocab_size=WORDS + 3, pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, activation_function="swish",
        scale_embedding=True, share_encoder_decoder_embeddings=layout.tied, **shape)
    return scatter(transformers.MarianMTModel(config))


def text(sentences):
    return "".join(" ".join(f"w{i}" for i in sentence) + "\n" for sentence in sentences)


def write_files(folder, layout, sentences, targets, experiment=EXPERIMENT):
    """Writes texts whose words are their ids, and a text that gives the vocabulary in the order of the ids: more
    frequent words come first."""
    def write(name, lines, documents=False):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(lines.replace("\n", "\n\n") if documents else lines)

    words = range(SPECIALS, SPECIALS + WORDS)
    write("all", text([[i] * (2 * WORDS - i) for i in words]))
    for split in ("train", "test"):
        write(f"{split}.a", text(sentences), layout.documents)
        write(f"{split}.b", text(targets))
    write("run.ini", experiment.format(
        data=layout.data, common=COMMON, source=layout.source, decoder=layout.decoder, width=WIDTH, map=layout.name, longest=LONGEST))


def plait(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"plait {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def source_ids(layout, sentence):
    return layout.theirs(([1] if layout.documents else []) + sentence + [2])


def log_probability(model, layout, sentence, target):
    start = model.config.decoder_start_token_id
    labels = layout.theirs(target + [2])
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor([source_ids(layout, sentence)]),
            decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0].double()
    return torch.log_softmax(logits, -1)[range(len(labels)), labels].sum().item()


def search(model, layout, sentence, beam):
    """Returns the output of the search, or None if it does not end."""
    banned = [i for i in (layout.ids[0], layout.ids[1]) if i is not None]
    with torch.no_grad():
        found = model.generate(
            torch.tensor([source_ids(layout, sentence)]), num_beams=beam, do_sample=False, max_new_tokens=LONGEST, min_length=0,
            suppress_tokens=banned, **({"length_penalty": 1.0, "early_stopping": True} if beam > 1 else {}))[0].tolist()[1:]
    end = layout.ids[2]
    return layout.ours(found[: found.index(end)]) if end in found else None


def read_words(line):
    return [int(word[1:]) if word.startswith("w") else 3 for word in line.split()]


def export(program, folder):
    """Writes the CTranslate2 model of run.h5 into the folder model."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "to-ctranslate2.py")
    subprocess.run([sys.executable, script, "run.h5", "--output", "model", "--plait", program], cwd=folder, check=True, capture_output=True)


def compare_ctranslate2(program, folder, name, start, sentences, targets):
    """Compares `folder`/run.h5 with its export in CTranslate2. `start`: sources begin with a start token."""
    export(program, folder)
    translator = ctranslate2.Translator(os.path.join(folder, "model"), compute_type="float32", intra_threads=1)
    with open(os.path.join(folder, "model", "shared_vocabulary.json"), encoding="utf-8") as file:
        padding, beginning, end = json.load(file)[:3]
    sources = [([beginning] if start else []) + [f"w{i}" for i in sentence] for sentence in sentences]
    scores = plait(program, folder, "score", "run.h5", "--source", "a=test.a", "--target", "test.b", "--quiet")
    theirs = translator.score_batch(sources, [[f"w{i}" for i in target] for target in targets])
    distances = [
        abs(float(line.split()[0]) - sum(result.log_probs)) for line, result in zip(scores.splitlines(), theirs)]
    print(f"{name}: log-probabilities of {len(distances)} targets differ from CTranslate2's by at most {max(distances):.1e}")
    lines = plait(program, folder, "translate", "run.h5", "--source", "a=test.a", "--quiet", "--beam", "1").splitlines()
    found = translator.translate_batch(
        sources, beam_size=1, max_decoding_length=LONGEST, min_decoding_length=0, suppress_sequences=[[beginning], [padding]],
        return_end_token=True)
    ended = [
        (line.split(), result.hypotheses[0][:-1]) for line, result in zip(lines, found)
        if result.hypotheses[0][-1:] == [end]]
    same = sum(ours == other for ours, other in ended)
    print(f"{name}: {same} of {len(ended)} greedy outputs that end are equal to CTranslate2's")
    return max(distances) < LIMIT and len(distances) == len(sentences) and 0 < same == len(ended)


# Short trainings by plait: its defaults, and all keys that differ from the two layouts above.
TRAINED = [
    Layout("defaults", None, "", ""),
    Layout(
        "otherwise", None, "positions=concatenated\nactivation=gelu_tanh\nfinal_norm=false\n",
        "positions=none\nactivation=gelu\nshare_embeddings=false\ntie_output=false\noutput_bias=true\n"),
]


def compare_trained(program, layout, sentences, targets):
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, layout, sentences, targets, PLAIN)
        plait(program, folder, "vocabulary", "--type", "words", "--size", "0", "--output", "words", "all")
        plait(program, folder, "run", "run.ini", "--quiet")
        return compare_ctranslate2(program, folder, layout.name, False, sentences, targets)


def compare_masked(program, sentences):
    """Compares log-probabilities of whole sentences with RoBERTa's head for masked tokens."""
    layout = Layout("roberta", LAYOUTS["bart"].ids, LEARNED, "")
    model = scatter(transformers.RobertaForMaskedLM(transformers.RobertaConfig(
        vocab_size=WORDS + 4, hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=INNER,
        max_position_embeddings=PLACES + 2, type_vocab_size=1, layer_norm_eps=1e-5)))
    with tempfile.TemporaryDirectory() as folder:
        begin(program, folder, layout, model, sentences, sentences, MASKED)
        shown = json.loads(plait(
            program, folder, "show", "run.h5", "/evaluation/test/reference_log_probabilities", "--all", "--json"))
    distances = []
    for ours, sentence in zip(shown["values"], sentences):
        ids = torch.tensor([layout.theirs(sentence + [2])])
        with torch.no_grad():
            rows = torch.log_softmax(model(input_ids=ids).logits[0].double(), -1)
        distances.append(abs(ours - sum(rows[i, word].item() for i, word in enumerate(ids[0, :-1].tolist()))))
    print(f"roberta: log-probabilities of {len(distances)} sentences differ by at most {max(distances):.1e}")
    return max(distances) < LIMIT and len(distances) == len(sentences)


def begin(program, folder, layout, model, sentences, targets, experiment=EXPERIMENT):
    """Makes a run in `folder` that takes the parameters of `model` and does not change them."""
    write_files(folder, layout, sentences, targets, experiment)
    plait(program, folder, "vocabulary", "--type", "words", "--size", "0", "--output", "words", "all")
    model.save_pretrained(folder)
    os.rename(os.path.join(folder, "model.safetensors"), os.path.join(folder, "weights.safetensors"))
    plait(program, folder, "run", "run.ini", "--quiet")


def compare(program, layout, sentences, targets):
    model = make(layout)
    with tempfile.TemporaryDirectory() as folder:
        begin(program, folder, layout, model, sentences, targets)
        scores = plait(program, folder, "score", "run.h5", "--source", "a=test.a", "--target", "test.b", "--quiet")
        distances = [
            abs(float(line.split()[0]) - log_probability(model, layout, sentence, target))
            for line, sentence, target in zip(scores.splitlines(), sentences, targets)]
        print(f"{layout.title}: log-probabilities of {len(distances)} targets differ by at most {max(distances):.1e}")
        good = max(distances) < LIMIT and len(distances) == len(sentences)
        for beam in (1, 4):
            lines = plait(
                program, folder, "translate", "run.h5", "--source", "a=test.a", "--quiet", "--beam", str(beam)).splitlines()
            found = [search(model, layout, sentence, beam) for sentence in sentences]
            ended = [(read_words(line), ids) for line, ids in zip(lines, found) if ids is not None]
            same = sum(ours == theirs for ours, theirs in ended)
            print(f"{layout.title}: beam {beam}: {same} of {len(ended)} outputs that end are equal")
            good = good and 0 < same == len(ended)
        return compare_ctranslate2(program, folder, layout.title, layout.documents, sentences, targets) and good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plait", required=True)
    parser.add_argument("--sentences", type=int, default=40)
    parser.add_argument("--layout", choices=sorted(LAYOUTS), action="append")
    options = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    torch.set_num_threads(1)

    def draw():
        return [random.randrange(SPECIALS, SPECIALS + WORDS) for _ in range(random.randint(1, 12))]

    sentences, targets = [draw() for _ in range(options.sentences)], [draw() for _ in range(options.sentences)]
    results = [
        compare(os.path.abspath(options.plait), LAYOUTS[name], sentences, targets) for name in options.layout or sorted(LAYOUTS)]
    results.append(compare_masked(os.path.abspath(options.plait), sentences))
    results += [compare_trained(os.path.abspath(options.plait), layout, sentences, targets) for layout in TRAINED]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
