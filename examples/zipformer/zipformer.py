"""A streaming Zipformer2 encoder in PyTorch (arXiv 2310.11230), one chunk at a time, its states fed back by the caller.

Nineteen layers in six stacks that run at 1, 1/2, 1/4, 1/8, 1/4 and 1/2 of the frame rate. Tensors of a stack are
(time, batch, channels) as published exports have them. Weights are seeded: right for speed and for agreement between engines,
meaningless as a recogniser.
"""
import dataclasses
import math

import numpy as np
import torch
from torch import nn

FEATURES = 80          # mel bins of a frame
CHUNK = 32             # frames after the front end
LEFT = 128             # frames of history that attention sees, at the full rate
FRAMES = 2 * CHUNK + 13  # what the front end needs to make CHUNK frames: two strides and its look-ahead
LOOKAHEAD = 3          # frames on each side of the front end's 7x7 convolution
LAYERS = (2, 2, 4, 5, 4, 2)
DOWNSAMPLING = (1, 2, 4, 8, 4, 2)
HEADS = (4, 4, 4, 8, 4, 4)
KERNELS = (31, 31, 15, 15, 15, 31)
STATES = ("cached_key", "cached_nonlin_attn", "cached_val1", "cached_val2", "cached_conv1", "cached_conv2")


@dataclasses.dataclass(frozen=True)
class Size:
    dims: tuple
    feedforward: tuple
    query: int
    value: int
    pos_head: int
    pos_dim: int
    front: tuple
    output: int


SIZES = {
    "large": Size((192, 256, 512, 768, 512, 256), (512, 768, 1536, 2048, 1536, 768), 32, 12, 4, 48, (8, 32, 128), 512),
    "narrow": Size((24, 32, 56, 80, 56, 32), (64, 96, 160, 208, 160, 96), 8, 4, 4, 16, (8, 16, 32), 64),
}


def swoosh(x, offset, constant):
    """log(1 + exp(x - offset)) - 0.08 x - constant; where exp overflows the logarithm is its argument."""
    shifted = x - offset
    total = (1.0 + shifted.exp()).log()
    return torch.where(total == float("inf"), shifted, total) - 0.08 * x - constant


def swoosh_l(x):
    return swoosh(x, 4.0, 0.035)


def swoosh_r(x):
    return swoosh(x, 1.0, 0.313261687)


class BiasNorm(nn.Module):
    """Divides by the root mean square of x - bias, which leaves a large bias able to carry the length along."""

    def __init__(self, dim):
        super().__init__()
        self.bias, self.log_scale = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x * (((x - self.bias) ** 2).mean(-1, keepdim=True) ** -0.5 * self.log_scale.exp())


class Bypass(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = nn.Parameter(torch.full((dim,), 0.5))

    def forward(self, before, after):
        return before + (after - before) * self.scale


class FrontEnd(nn.Module):
    """Mel frames to vectors at half the rate: three convolutions and a ConvNeXt block, whose left edge is the state."""

    def __init__(self, channels, dim):
        super().__init__()
        a, b, c = channels
        self.width = ((FEATURES - 1) // 2 - 1) // 2
        self.conv1 = nn.Conv2d(1, a, 3, padding=(0, 1))
        self.conv2 = nn.Conv2d(a, b, 3, stride=2)
        self.conv3 = nn.Conv2d(b, c, 3, stride=(1, 2))
        self.depthwise = nn.Conv2d(c, c, 7, padding=(0, LOOKAHEAD), groups=c)
        self.wide, self.back = nn.Conv2d(c, 3 * c, 1), nn.Conv2d(3 * c, c, 1)
        self.out, self.norm = nn.Linear(c * self.width, dim), BiasNorm(dim)

    def forward(self, x, left):
        x = x.unsqueeze(1)
        for conv in (self.conv1, self.conv2, self.conv3):
            x = swoosh_r(conv(x))
        x = torch.cat((left, x), dim=2)
        y = self.back(swoosh_l(self.wide(self.depthwise(x))))
        left = x[:, :, CHUNK:CHUNK + LOOKAHEAD]
        x = x[:, :, LOOKAHEAD:LOOKAHEAD + CHUNK] + y
        x = x.transpose(1, 2).reshape(1, CHUNK, -1)
        return self.norm(self.out(x)).transpose(0, 1), left


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.into, self.out = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.out(swoosh_l(self.into(x)))


class AttentionWeights(nn.Module):
    """Scores of content and of relative position, shared by three users in a layer."""

    def __init__(self, dim, heads, query, pos_head, pos_dim, frames, left):
        super().__init__()
        self.heads, self.query, self.pos_head, self.left = heads, query, pos_head, left
        self.into = nn.Linear(dim, heads * (2 * query + pos_head))
        self.linear_pos = nn.Linear(pos_dim, heads * pos_head, bias=False)
        # Frame t looks at position k of history and chunk: their distance is a row of the table, shifted by one per frame.
        rows = torch.arange(frames - 1, -1, -1)[:, None] + torch.arange(left + frames)[None]
        self.register_buffer("rows", rows.expand(heads, 1, *rows.shape).contiguous(), persistent=False)

    def forward(self, x, positions, mask, key_cache):
        wide = self.heads * self.query
        x = self.into(x)
        q, k, p = x[..., :wide], x[..., wide:2 * wide], x[..., 2 * wide:]
        k = torch.cat((key_cache, k))
        frames = q.shape[0]
        q = q.reshape(frames, 1, self.heads, self.query).permute(2, 1, 0, 3)
        p = p.reshape(frames, 1, self.heads, self.pos_head).permute(2, 1, 0, 3)
        key = k.reshape(k.shape[0], 1, self.heads, self.query).permute(2, 1, 3, 0)
        table = self.linear_pos(positions).reshape(1, -1, self.heads, self.pos_head).permute(2, 0, 3, 1)
        scores = q @ key + torch.gather(p @ table, 3, self.rows)
        return scores.masked_fill(mask, -1000.0).softmax(-1), k[-self.left:]


class SelfAttention(nn.Module):
    def __init__(self, dim, heads, value, left):
        super().__init__()
        self.heads, self.value, self.left = heads, value, left
        self.into, self.out = nn.Linear(dim, heads * value), nn.Linear(heads * value, dim)

    def forward(self, x, weights, cache):
        v = torch.cat((cache, self.into(x)))
        y = weights @ v.reshape(v.shape[0], 1, self.heads, self.value).permute(2, 1, 0, 3)
        return self.out(y.permute(2, 1, 0, 3).reshape(x.shape[0], 1, -1)), v[-self.left:]


class NonlinAttention(nn.Module):
    """Attention by the first head's weights over gated values, gated again."""

    def __init__(self, dim, left):
        super().__init__()
        hidden = 3 * dim // 4
        self.left = left
        self.into, self.out = nn.Linear(dim, 3 * hidden), nn.Linear(hidden, dim)

    def forward(self, x, weights, cache):
        gate, v, after = self.into(x).chunk(3, dim=-1)
        v = (v * gate.tanh()).permute(1, 0, 2).unsqueeze(0)
        v = torch.cat((cache, v), dim=2)
        y = (weights @ v).squeeze(0).permute(1, 0, 2)
        return self.out(y * after), v[:, :, -self.left:]


class Convolution(nn.Module):
    """A causal depthwise convolution over history and chunk, and a centred one that sees the chunk alone and is weighted near
    its edges, where it misses its neighbours."""

    def __init__(self, dim, kernel, frames):
        super().__init__()
        self.reach, self.frames = kernel // 2, frames
        self.into, self.out = nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        self.causal = nn.Conv1d(dim, dim, kernel // 2 + 1, groups=dim)
        self.centred = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.edges = nn.Parameter(torch.zeros(2, dim, kernel))

    def edge_scale(self):
        left, right = self.edges[0], self.edges[1]
        missing = self.frames - left.shape[1]
        if missing <= 0:
            return 1.0 + left[:, :self.frames] + right[:, -self.frames:]
        zeros = torch.zeros(left.shape[0], missing)
        return 1.0 + torch.cat((left, zeros), 1) + torch.cat((zeros, right), 1)

    def forward(self, x, cache):
        x, gate = self.into(x).chunk(2, dim=-1)
        x = (x * gate.sigmoid()).permute(1, 2, 0)
        padded = torch.cat((cache, x), dim=2)
        y = self.centred(x) * self.edge_scale() + self.causal(padded)
        return self.out(swoosh_r(y.permute(2, 0, 1))), padded[:, :, -self.reach:]


class Layer(nn.Module):
    def __init__(self, size, stack):
        super().__init__()
        dim, heads, ff, rate = size.dims[stack], HEADS[stack], size.feedforward[stack], DOWNSAMPLING[stack]
        frames, left = CHUNK // rate, LEFT // rate
        self.attention_weights = AttentionWeights(dim, heads, size.query, size.pos_head, size.pos_dim, frames, left)
        self.attention1, self.attention2 = (SelfAttention(dim, heads, size.value, left) for _ in range(2))
        self.nonlin = NonlinAttention(dim, left)
        self.feed1, self.feed2, self.feed3 = (FeedForward(dim, ff * k // 4) for k in (3, 4, 5))
        self.conv1, self.conv2 = (Convolution(dim, KERNELS[stack], frames) for _ in range(2))
        self.middle, self.end, self.norm = Bypass(dim), Bypass(dim), BiasNorm(dim)

    def forward(self, x, positions, mask, states):
        key, nonlin, value1, value2, conv1, conv2 = states
        before = x
        weights, key = self.attention_weights(x, positions, mask, key)
        x = x + self.feed1(x)
        y, nonlin = self.nonlin(x, weights[0:1], nonlin)
        x = x + y
        y, value1 = self.attention1(x, weights, value1)
        x = x + y
        y, conv1 = self.conv1(x, conv1)
        x = x + y
        x = self.middle(before, x + self.feed2(x))
        y, value2 = self.attention2(x, weights, value2)
        x = x + y
        y, conv2 = self.conv2(x, conv2)
        x = x + y
        return self.end(before, self.norm(x + self.feed3(x))), (key, nonlin, value1, value2, conv1, conv2)


class Downsample(nn.Module):
    """A weighted mean of `rate` frames, weights by softmax."""

    def __init__(self, rate):
        super().__init__()
        self.rate, self.bias = rate, nn.Parameter(torch.zeros(rate))

    def forward(self, x):
        frames, _, dim = x.shape
        x = x.reshape(frames // self.rate, self.rate, 1, dim)
        return (x * self.bias.softmax(0)[:, None, None]).sum(1)


def positions(frames, left, dim):
    """Relative positions left + frames - 1 ... frames - 1, squeezed by a logarithm and bent into an angle: finest near 0."""
    x = torch.arange(-(left + frames - 1), frames, dtype=torch.float64)[:, None]
    scale = math.sqrt(dim)
    x = scale * x.sign() * ((x.abs() + scale).log() - math.log(scale))
    angle = (x / (dim / (2.0 * math.pi))).atan() * (1.0 + torch.arange(dim // 2, dtype=torch.float64))
    table = torch.stack((angle.cos(), angle.sin()), dim=2).reshape(len(x), dim)
    table[:, -1] = 1.0
    return table.float()[None]


def with_channels(x, dim):
    if dim <= x.shape[-1]:
        return x[..., :dim]
    return torch.cat((x, torch.zeros(*x.shape[:-1], dim - x.shape[-1])), -1)


class Stack(nn.Module):
    def __init__(self, size, stack):
        super().__init__()
        self.rate, self.dim = DOWNSAMPLING[stack], size.dims[stack]
        self.layers = nn.ModuleList(Layer(size, stack) for _ in range(LAYERS[stack]))
        if self.rate > 1:
            self.down, self.combine = Downsample(self.rate), Bypass(self.dim)
        table = positions(CHUNK // self.rate, LEFT // self.rate, size.pos_dim)
        self.register_buffer("positions", table, persistent=False)

    def forward(self, x, mask, states):
        x = with_channels(x, self.dim)
        before, made = x, []
        x = self.down(x) if self.rate > 1 else x
        mask = mask[..., ::self.rate]
        for layer, own in zip(self.layers, states):
            x, own = layer(x, self.positions, mask, own)
            made.append(own)
        if self.rate > 1:
            x = x.unsqueeze(1).expand(-1, self.rate, -1, -1).reshape(before.shape)
            x = self.combine(before, x)
        return x, made


class Encoder(nn.Module):
    """forward(x, *states): x is (1, FRAMES, FEATURES); returns (encoder_out, *new states), states in the order of state_specs."""

    def __init__(self, size):
        super().__init__()
        self.size = size
        self.front = FrontEnd(size.front, size.dims[0])
        self.stacks = nn.ModuleList(Stack(size, s) for s in range(len(LAYERS)))
        self.down, self.projection = Downsample(2), nn.Linear(max(size.dims), size.output)

    def forward(self, x, *states):
        x, left = self.front(x, states[-2])
        seen = states[-1]
        # Of the history, the newest `seen` frames are real; the chunk itself always is.
        empty = (seen[:, None] <= torch.arange(LEFT)[None]).flip(1)
        mask = torch.cat((empty, torch.zeros(1, CHUNK, dtype=torch.bool)), 1)
        made, at, outputs = [], 0, []
        for stack in self.stacks:
            own = []
            for _ in stack.layers:
                own.append(states[at:at + len(STATES)])
                at += len(STATES)
            x, new = stack(x, mask, own)
            outputs.append(x)
            made += [s for layer in new for s in layer]
        # Channels that the last stack does not have come from the latest stack that has them.
        for earlier in reversed(outputs[:-1]):
            if earlier.shape[-1] > x.shape[-1]:
                x = torch.cat((x, earlier[..., x.shape[-1]:]), -1)
        y = self.projection(self.down(x).transpose(0, 1))
        return (y, *made, left, seen + CHUNK)


def state_specs(size):
    """[(name, shape, dtype)] of the 116 states, as inputs; outputs are called new_ and the name."""
    specs, number = [], 0
    for dim, heads, kernel, rate, layers in zip(size.dims, HEADS, KERNELS, DOWNSAMPLING, LAYERS):
        left = LEFT // rate
        value, conv = (left, 1, heads * size.value), (1, dim, kernel // 2)
        shapes = ((left, 1, heads * size.query), (1, 1, left, 3 * dim // 4), value, value, conv, conv)
        for _ in range(layers):
            specs += [(f"{name}_{number}", shape, np.float32) for name, shape in zip(STATES, shapes)]
            number += 1
    width = ((FEATURES - 1) // 2 - 1) // 2
    return specs + [("embed_states", (1, size.front[2], LOOKAHEAD, width), np.float32), ("processed_lens", (1,), np.int64)]


def seeded(name, number=6):
    """The encoder of this name with weights from PCG64: every parameter differs, so that no exporter merges any."""
    encoder = Encoder(SIZES[name]).eval()
    source = np.random.Generator(np.random.PCG64(number))
    with torch.no_grad():
        for key, p in encoder.named_parameters():
            noise = torch.from_numpy(source.standard_normal(tuple(p.shape), np.float32).reshape(tuple(p.shape)))
            if key.endswith("scale") and p.dim() == 1:           # bypasses: between the two they mix
                p.copy_(0.5 + 0.1 * noise.clamp(-3, 3))
            elif p.dim() >= 2 and key.endswith("weight"):
                p.copy_(noise / math.sqrt(p[0].numel()))
            else:
                p.copy_(0.1 * noise)
    return encoder
