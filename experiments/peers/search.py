# SPDX-License-Identifier: MIT
"""Beam search with cached keys and values, for a fixed number of steps."""

import math
from functools import partial, reduce

import torch
from torch import nn
from torch.nn import functional as F

from model import Layout
from pointer import Reading, log_probabilities
from sizes import BEGIN, END, PADDING


# Prepacking smaller products costs more time for each call than it saves.
PREPACK_FROM = 1 << 17


@torch.inference_mode()
def prepack(model, rows):
    """Converts the large weights once to the blocked layout of oneDNN, for products with about `rows` rows. For
    decoding only."""

    def product(packed, bias, x):
        return torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")

    def pack(weight, bias=None):
        return partial(product, torch.ops.mkldnn._reorder_linear_weight(weight.detach().clone(), rows), bias)

    for module in model.modules():
        if isinstance(module, nn.Linear) and module.weight.numel() >= PREPACK_FROM:
            module.forward = pack(module.weight, module.bias)
    model.output = pack(model.embedding)


class Member:
    """A model in the search of a batch: memories, caches of keys and values, and the log-probabilities of a step."""

    def __init__(self, model, batch, beam, steps):
        self.model, self.beam, self.words = model, beam, batch.words
        memories, *_ = model.encode(batch)
        sentences = batch.layouts[0].batch
        # Hypotheses of one sentence share its keys and values: the beam is the query axis of cross-attention.
        self.projected = [layer.combiner.project(memories, batch.memories) for layer in model.decoder]
        self.layout = Layout([beam] * sentences, packed=False)
        self.cache, self.other = (torch.empty(len(model.decoder), 2, steps, sentences * beam, model.size.width) for _ in range(2))

    def step(self, words, time):
        """Returns log-probabilities [hypotheses, vocabulary] after `words`."""
        model, layout = self.model, self.layout
        embedded = model.embed(words)
        reading = Reading(embedded) if model.pointer else None
        turns = None if model.turns is None else model.turns[time : time + 1]
        x = model.begin(embedded, time)
        for layer, memory, slot in zip(model.decoder, self.projected, self.cache):
            x = layer.step(x, layout, memory, reading if layer is model.decoder[-1] else None, slot, time, turns)
        states = model.decoder_norm(x)
        logits = model.output(states)
        if not model.pointer:
            return logits.log_softmax(1)
        return log_probabilities(logits, *model.pointer(states, reading, layout, self.words), self.words.ids.repeat_interleave(self.beam, 0))

    def follow(self, parents, time):
        """Continues the hypotheses `parents`."""
        torch.index_select(self.cache[:, :, : time + 1], 3, parents, out=self.other[:, :, : time + 1])
        self.cache, self.other = self.other, self.cache


@torch.inference_mode()
def beam_search(models, batch, beam, steps, alpha=1.0):
    """Returns the best `beam` translations of `steps` words each: ids [batch, beam, steps], scores [batch, beam].

    The end token is never taken, so every program decodes an equal number of steps. Scores are log-probabilities
    divided by the length penalty of Wu et al. (2016), ((5 + length) / 6) ** alpha. Several models are an ensemble, whose
    probabilities are the means of theirs.
    """
    members = [Member(model, batch, beam, steps) for model in models]
    sentences = batch.layouts[0].batch
    first = torch.arange(sentences)[:, None] * beam
    scores = torch.full((sentences, beam), -torch.inf)
    scores[:, 0] = 0.0
    words = torch.full((sentences * beam,), BEGIN)
    history = torch.empty(sentences * beam, 0, dtype=torch.long)
    never = torch.tensor([PADDING, BEGIN, END])
    for time in range(steps):
        found = reduce(torch.logaddexp, [member.step(words, time) for member in members])
        if len(members) > 1:
            found -= math.log(len(members))
        found[:, never] = -torch.inf
        # The best words of a sentence are among the best words of its hypotheses.
        best, candidates = found.topk(beam)
        penalty = ((5 + time + 1) / 6) ** alpha
        ranked, chosen = ((scores.view(-1, 1) + best).view(sentences, -1) / penalty).topk(beam)
        scores = ranked * penalty
        parents = (first + chosen // beam).flatten()
        words = candidates.view(sentences, -1).gather(1, chosen).flatten()
        history = torch.cat([history[parents], words[:, None]], 1)
        if time + 1 < steps:
            for member in members:
                member.follow(parents, time)
    return history.view(sentences, beam, steps), ranked
