"""The text and the model of gpt.py."""
import gzip

import torch
from torch import nn
from torch.nn import functional


class Text:
    """A file's characters as numbers: the first nine tenths to train on, the rest to validate."""

    def __init__(self, path, device):
        opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
        with opened as file:
            text = file.read()
        self.letters = sorted(set(text))
        numbers = {letter: number for number, letter in enumerate(self.letters)}
        every = torch.tensor([numbers[letter] for letter in text], device=device)
        self.training, self.validation = every.tensor_split([len(every) * 9 // 10])

    def batch(self, numbers, settings, generator):
        """(batch, context) of numbers, and of those that follow each."""
        starts = torch.randint(len(numbers) - settings.context, (settings.batch, 1), generator=generator)
        places = (starts + torch.arange(settings.context)).to(numbers.device, non_blocking=True)
        return numbers[places], numbers[places + 1]

    def read(self, numbers):
        return "".join(self.letters[number] for number in numbers.tolist())


class Block(nn.Module):
    """Each place looks at itself and those before it, then thinks for itself."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value, self.mix = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        split = self.query_key_value(self.norm1(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.permute(2, 0, 3, 1, 4)  # each (batch, head, place, width of a head)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.mix(seen.transpose(1, 2).flatten(2))
        return x + self.think(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, letters, settings):
        super().__init__()
        self.letter, self.place = nn.Embedding(letters, settings.width), nn.Embedding(settings.context, settings.width)
        self.blocks = nn.Sequential(*(Block(settings.width, settings.heads) for _ in range(settings.layers)))
        self.norm = nn.LayerNorm(settings.width)
        for embedding in (self.letter, self.place):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, numbers):
        x = self.letter(numbers) + self.place.weight[:numbers.shape[1]]
        return self.norm(self.blocks(x)) @ self.letter.weight.T

    def loss(self, numbers, following):
        return functional.cross_entropy(self(numbers).flatten(0, 1).float(), following.flatten())


@torch.no_grad()
def write(model, text, settings, count):
    """The model's own text, letter by letter."""
    numbers = text.validation[:1][None]
    for _ in range(count):
        chances = model(numbers[:, -settings.context:])[:, -1].float().softmax(-1)
        numbers = torch.cat([numbers, torch.multinomial(chances, 1)], 1)
    return text.read(numbers[0])
