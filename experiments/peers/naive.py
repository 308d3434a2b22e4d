# SPDX-License-Identifier: MIT
"""The recurrent model with trees computed node by node and sentence by sentence, as the equations are written."""

import torch

from recurrent import System, gru_step


class NodeByNode(System):
    def encode(self, batch):
        words = self.read_words(batch)
        if not self.trees:
            return words
        memory = []
        for leaves, children in zip(words.split(batch.words), batch.nodes):
            up = list(leaves.split(1))
            pairs = list(zip(children[::2], children[1::2]))
            for left, right in pairs:
                up.append(self.climb(torch.cat([up[left], up[right]], 1)))
            down = [None] * len(up)
            down[-1] = torch.tanh(self.apply_linear("source/tree/down/root", up[-1]))
            for node in range(len(up) - 1, len(leaves) - 1, -1):
                for side, child in zip(("left", "right"), pairs[node - len(leaves)]):
                    name = f"source/tree/down/{side}"
                    down[child] = gru_step(self.apply_linear(f"{name}/input", up[child]), down[node], *self.cell(name))
            memory.append(torch.cat([torch.cat(up), torch.cat(down)], 1))
        return torch.cat(memory)
