#!/usr/bin/env python3
"""Writes models.json, the tensor lists that benchmarks run on: models.py [--check]

Each list has the names and shapes of a published model's parameters, in the order of its usual
implementation. --check writes nothing and exits with 1 where the file is not what this script writes.
"""
import json
import sys
import textwrap
from pathlib import Path

FILE = Path(__file__).with_name("models.json")


def llama(vocabulary, width, layers, inner, key_value):
    yield "model.embed_tokens.weight", [vocabulary, width]
    for layer in range(layers):
        prefix = f"model.layers.{layer}."
        yield prefix + "self_attn.q_proj.weight", [width, width]
        yield prefix + "self_attn.k_proj.weight", [key_value, width]
        yield prefix + "self_attn.v_proj.weight", [key_value, width]
        yield prefix + "self_attn.o_proj.weight", [width, width]
        yield prefix + "mlp.gate_proj.weight", [inner, width]
        yield prefix + "mlp.up_proj.weight", [inner, width]
        yield prefix + "mlp.down_proj.weight", [width, inner]
        yield prefix + "input_layernorm.weight", [width]
        yield prefix + "post_attention_layernorm.weight", [width]
    yield "model.norm.weight", [width]
    yield "lm_head.weight", [vocabulary, width]


def linear(name, outputs, inputs):
    yield name + ".weight", [outputs, inputs]
    yield name + ".bias", [outputs]


def norm(name, width):
    yield name + ".weight", [width]
    yield name + ".bias", [width]


def bert(vocabulary, positions, width, layers, inner):
    yield "embeddings.word_embeddings.weight", [vocabulary, width]
    yield "embeddings.position_embeddings.weight", [positions, width]
    yield "embeddings.token_type_embeddings.weight", [2, width]
    yield from norm("embeddings.LayerNorm", width)
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            yield from linear(prefix + "attention.self." + name, width, width)
        yield from linear(prefix + "attention.output.dense", width, width)
        yield from norm(prefix + "attention.output.LayerNorm", width)
        yield from linear(prefix + "intermediate.dense", inner, width)
        yield from linear(prefix + "output.dense", width, inner)
        yield from norm(prefix + "output.LayerNorm", width)
    yield from linear("pooler.dense", width, width)


def resnet(blocks, classes):
    """Bottleneck blocks: 1x1, 3x3, 1x1 with four times the channels."""
    yield "conv1.weight", [64, 3, 7, 7]
    yield from norm("bn1", 64)
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for block in range(count):
            prefix = f"layer{stage + 1}.{block}."
            for number, shape in enumerate(([width, channels, 1, 1], [width, width, 3, 3], [4 * width, width, 1, 1]), 1):
                yield f"{prefix}conv{number}.weight", shape
                yield from norm(f"{prefix}bn{number}", shape[0])
            if block == 0:
                yield prefix + "downsample.0.weight", [4 * width, channels, 1, 1]
                yield from norm(prefix + "downsample.1", 4 * width)
            channels = 4 * width
    yield from linear("fc", classes, channels)


# Name, where the architecture is published, its tensors, and how many tensors and elements it has.
MODELS = [
    ("llama-1.1b", "TinyLlama 1.1B: Zhang et al. 2024, arXiv 2401.02385, section 2 (the layers of Llama 2)",
     llama(32000, 2048, 22, 5632, 256), 201, 1_100_048_384),
    ("bert-large", "BERT large, uncased: Devlin et al. 2018, arXiv 1810.04805, section 3",
     bert(30522, 512, 1024, 24, 4096), 391, 335_141_888),
    ("resnet-50", "ResNet-50: He et al. 2015, arXiv 1512.03385, table 1, with batch norms and biases of none but the classifier",
     resnet([3, 4, 6, 3], 1000), 161, 25_557_032),
]


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def text():
    """Lines of whole tensors, so that a difference is readable."""
    parts = []
    for name, source, tensors, count, total in MODELS:
        rows = list(tensors)
        got = len(rows), sum(elements(shape) for _, shape in rows)
        if got != (count, total):
            raise SystemExit(f"{name}: error: expected {count} tensors of {total} elements, got {got}")
        lines = textwrap.fill(", ".join(json.dumps([tensor, shape]).replace(", ", "\0") for tensor, shape in rows), 160,
                              initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False).replace("\0", ", ")
        parts.append(f' {json.dumps(name)}: {{\n  "source": {json.dumps(source)},\n  "elements": {total},\n'
                     f'  "tensors": [\n{lines}\n  ]\n }}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text())
        return 0
    current = FILE.exists() and FILE.read_text() == text()
    print("models.json is what models.py writes" if current else
          "error: expected models.json as models.py writes it, got another text; run bench/tables/models.py")
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
