"""Networks whose weights come from packages that bring no definition of their own, written from their papers.

EfficientNet-Lite0: the table of EfficientNet-B0 (arXiv 1905.11946) without squeeze-and-excitation, ReLU6 for swish; padding as
TensorFlow's "same", which is uneven at stride 2. MiniLM-L6: BERT (arXiv 1810.04805) with 6 layers of 12 heads, post-norm.
Parameter names are those of the weight files.
"""
import math

import torch
from torch import nn

# Repeats, kernel, first stride, expansion, channels out; channels in follow.
LITE0_STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
                (1, 3, 1, 6, 320))
LITE0_SIZE = 224


def _same_conv(channels_in, channels_out, kernel, stride, size, groups=1):
    """The padding of "same" for this input size: even on both sides goes into the convolution, uneven before it."""
    total = max((math.ceil(size / stride) - 1) * stride + kernel - size, 0)
    before, after = total // 2, total - total // 2
    conv = nn.Conv2d(channels_in, channels_out, kernel, stride, before if before == after else 0, groups=groups, bias=False)
    return conv, nn.Identity() if before == after else nn.ZeroPad2d((before, after, before, after))


class _LiteBlock(nn.Module):
    def __init__(self, channels_in, channels_out, kernel, stride, expansion, size):
        super().__init__()
        wide = channels_in * expansion
        self.expands, self.adds = expansion != 1, stride == 1 and channels_in == channels_out
        if self.expands:
            self._expand_conv = nn.Conv2d(channels_in, wide, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(wide, eps=1e-3)
        self._depthwise_conv, self.pad = _same_conv(wide, wide, kernel, stride, size, groups=wide)
        self._bn1 = nn.BatchNorm2d(wide, eps=1e-3)
        self._project_conv = nn.Conv2d(wide, channels_out, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(channels_out, eps=1e-3)
        self.act = nn.ReLU6()

    def forward(self, x):
        y = self.act(self._bn0(self._expand_conv(x))) if self.expands else x
        y = self.act(self._bn1(self._depthwise_conv(self.pad(y))))
        y = self._bn2(self._project_conv(y))
        return x + y if self.adds else y


class EfficientNetLite0(nn.Module):
    def __init__(self):
        super().__init__()
        size, channels = LITE0_SIZE, 32
        self._conv_stem, self.pad = _same_conv(3, channels, 3, 2, size)
        self._bn0 = nn.BatchNorm2d(channels, eps=1e-3)
        size = math.ceil(size / 2)
        self._blocks = nn.ModuleList()
        for repeats, kernel, stride, expansion, channels_out in LITE0_STAGES:
            for i in range(repeats):
                step = stride if i == 0 else 1
                self._blocks.append(_LiteBlock(channels, channels_out, kernel, step, expansion, size))
                size, channels = math.ceil(size / step), channels_out
        self._conv_head = nn.Conv2d(channels, 1280, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(1280, eps=1e-3)
        self._fc = nn.Linear(1280, 1000)
        self.pool, self.act = nn.AdaptiveAvgPool2d(1), nn.ReLU6()

    def forward(self, x):
        x = self.act(self._bn0(self._conv_stem(self.pad(x))))
        for block in self._blocks:
            x = block(x)
        x = self.act(self._bn1(self._conv_head(x)))
        return self._fc(torch.flatten(self.pool(x), 1))


class _Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.each = heads, width // heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))

    def _split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.each).permute(0, 2, 1, 3)

    def forward(self, x, bias):
        q, k, v = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.each) + bias
        y = torch.matmul(torch.softmax(scores, dim=-1), v)
        return y.permute(0, 2, 1, 3).reshape(x.shape)


class _Layer(nn.Module):
    def __init__(self, width, heads, inner, eps):
        super().__init__()
        self.attention = nn.ModuleDict({
            "self": _Attention(width, heads),
            "output": nn.ModuleDict({"dense": nn.Linear(width, width), "LayerNorm": nn.LayerNorm(width, eps=eps)})})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, inner)})
        self.output = nn.ModuleDict({"dense": nn.Linear(inner, width), "LayerNorm": nn.LayerNorm(width, eps=eps)})

    def forward(self, x, bias):
        out = self.attention["output"]
        x = out["LayerNorm"](out["dense"](self.attention["self"](x, bias)) + x)
        y = nn.functional.gelu(self.intermediate["dense"](x))
        return self.output["LayerNorm"](self.output["dense"](y) + x)


class MiniLM(nn.Module):
    """Token ids to the last hidden state; the file's pooler is not part of the sentence embedding and is left out."""

    def __init__(self, vocabulary=30522, positions=512, width=384, layers=6, heads=12, inner=1536, eps=1e-12):
        super().__init__()
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(vocabulary, width), "position_embeddings": nn.Embedding(positions, width),
            "token_type_embeddings": nn.Embedding(2, width), "LayerNorm": nn.LayerNorm(width, eps=eps)})
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(width, heads, inner, eps) for _ in range(layers))})
        self.register_buffer("positions", torch.arange(positions).unsqueeze(0), persistent=False)

    def forward(self, input_ids, attention_mask, token_type_ids):
        e = self.embeddings
        x = e["word_embeddings"](input_ids) + e["token_type_embeddings"](token_type_ids)
        x = e["LayerNorm"](x + e["position_embeddings"](self.positions[:, :input_ids.shape[1]]))
        # What this model's own library version adds to masked scores; it fits fp16.
        bias = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.encoder["layer"]:
            x = layer(x, bias)
        return x
