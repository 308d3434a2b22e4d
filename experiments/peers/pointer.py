# SPDX-License-Identifier: MIT
"""The pointer-generator of See, Liu & Manning (2017), equations 8 and 9, over the words of several sources:

    p(v) = g softmax(logits)_v + (1 - g) c(v),   c(v) = sum of the attention to all source tokens v

Attention is the mean of the heads of the last decoder layer. With separate attention to each source (serial, parallel),
a softmax shares c among the sources; hierarchical attention has weights of the sources already, flat attention needs
none.
"""

import torch
from torch import nn
from torch.nn import functional as F

from sizes import PADDING

# Lower bound of the arguments of logarithms, so that gradients are finite.
SMALLEST = 1e-30


class Words:
    """The different words of all sources of each sentence: ids [batch, K], and the index of each token's word in them,
    slots [batch, S], sources side by side, each padded as its Layout is."""

    def __init__(self, streams):
        ids, slots = [], []
        longest = [max(map(len, stream)) for stream in streams]
        for sentence in zip(*streams):
            words = sorted({word for stream in sentence for word in stream})
            index = {word: slot for slot, word in enumerate(words)}
            ids.append(words)
            # Padding has weight 0, so its slot does not matter.
            slots.append([slot for stream, length in zip(sentence, longest) for slot in [index[word] for word in stream] + [0] * (length - len(stream))])
        most = max(map(len, ids))
        self.ids = torch.tensor([words + [PADDING] * (most - len(words)) for words in ids])
        self.slots = torch.tensor(slots)

    def distribution(self, weights):
        """weights [batch, rows, S] -> c [batch, rows, K]"""
        batch, length = self.slots.shape
        words = weights.new_zeros(batch, length, self.ids.shape[1]).scatter_(2, self.slots[:, :, None], 1.0)
        return weights @ words


class Reading:
    """Input of a pointer from the last decoder layer: attention weights of each memory, weights of the memories,
    context, and the embedding of the previous word."""

    def __init__(self, embedded):
        self.embedded, self.context = embedded, None
        self.weights, self.shares = [], []


class Pointer(nn.Module):
    def __init__(self, width, sources, combiner):
        super().__init__()
        self.own = sources > 1 and combiner in ("serial", "parallel")
        self.scores = nn.Linear(3 * width, 1 + sources if self.own else 1)

    def forward(self, states, reading, layout, words):
        """Returns the logits of g [rows, 1], and c [rows, K]."""
        scores = self.scores(torch.cat([reading.context, states, reading.embedded], 1))
        weights, shares = reading.weights, None
        if self.own:
            shares = layout.split(scores[:, 1:].softmax(1), 1)[:, 0]
        elif reading.shares:
            shares = layout.split(reading.shares[0].flatten(1), 1)[:, 0]
        if shares is not None:
            weights = [weight * shares[:, :, i : i + 1] for i, weight in enumerate(weights)]
        return scores[:, :1], layout.join(words.distribution(torch.cat(weights, 2))[:, None])


def dense_loss(logits, gate, copied, ids, target, smoothing):
    """Returns the mean loss of all rows, from the probabilities of all words [rows, vocabulary]."""
    gate = gate.sigmoid()
    log = (gate * logits.softmax(1)).scatter_add(1, ids, (1 - gate) * copied).clamp_min(SMALLEST).log()
    return -((1 - smoothing) * log.gather(1, target[:, None]).mean() + smoothing * log.mean())


def sparse_loss(logits, gate, copied, ids, target, smoothing):
    """Returns what dense_loss returns. Of words that are not copied, it only needs the sum of the logits."""
    generated, given = F.logsigmoid(gate), F.logsigmoid(-gate) + copied.clamp_min(SMALLEST).log()
    base = generated - logits.logsumexp(1, keepdim=True)
    softmax = logits.gather(1, ids) + base
    changes = torch.where(copied > 0, torch.logaddexp(softmax, given) - softmax, 0)
    of_target = logits.gather(1, target[:, None]) + base + torch.where(ids == target[:, None], changes, 0).sum(1, keepdim=True)
    all_words = logits.mean(1, keepdim=True) + base + changes.sum(1, keepdim=True) / logits.shape[1]
    return -((1 - smoothing) * of_target + smoothing * all_words).mean()


def log_probabilities(logits, gate, copied, ids):
    """Returns log p [rows, vocabulary], for search."""
    log = logits.log_softmax(1).add_(F.logsigmoid(gate))
    mixed = torch.logaddexp(log.gather(1, ids), F.logsigmoid(-gate) + copied.log())
    return log.scatter_(1, ids, mixed)
