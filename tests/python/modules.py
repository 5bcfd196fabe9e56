"""Modules in the KernelBench pattern, one of each kind, written for these tests: the reference, and an honest
candidate that computes the same another way."""

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"


def module(name, init, forward, inputs, init_inputs="[]"):
    parameters = "".join(", " + word for word in init.pop("parameters", []))
    lines = "".join(f"        {line}\n" for line in init.get("lines", []))
    body = "".join(f"        {line}\n" for line in forward["lines"])
    return (f"{HEAD}class {name}(nn.Module):\n    def __init__(self{parameters}):\n        super().__init__()\n{lines}\n"
            f"    def forward(self, {forward['takes']}):\n{body}\n"
            f"def get_inputs():\n    return {inputs}\n\ndef get_init_inputs():\n    return {init_inputs}\n")


def pair(takes, inputs, reference, candidate, lines=(), parameters=(), init_inputs="[]"):
    def make(name, body):
        return module(name, {"lines": list(lines), "parameters": list(parameters)},
                      {"takes": takes, "lines": body}, inputs, init_inputs)
    return make("Model", reference), make("ModelNew", candidate)


MODULES = {
    "matmul": pair("a, b", "[torch.randn(48, 32), torch.randn(32, 24)]",
                   ["return torch.matmul(a, b)"], ["return torch.einsum('ik,kj->ij', a, b)"]),
    "convolution": pair("x", "[torch.randn(2, 3, 12, 12)]", ["return self.conv(x)"],
                        ["columns = F.unfold(x, 3)",
                         "weight = self.conv.weight.view(4, -1)",
                         "return (weight @ columns + self.conv.bias[:, None]).view(2, 4, 10, 10)"],
                        lines=["self.conv = nn.Conv2d(3, width, 3)"], parameters=["width"], init_inputs="[4]"),
    "layer norm": pair("x", "[torch.randn(8, 40)]", ["return self.norm(x)"],
                       ["centred = x - x.mean(-1, keepdim=True)",
                        "return centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + 1e-5)"],
                       lines=["self.norm = nn.LayerNorm(40)"]),
    "softmax": pair("x", "[torch.randn(16, 33)]", ["return torch.softmax(x, dim=-1)"],
                    ["e = torch.exp(x - x.amax(-1, keepdim=True))", "return e / e.sum(-1, keepdim=True)"]),
    "attention": pair("q, k, v", "[torch.randn(2, 4, 9, 8) for _ in range(3)]",
                      ["return F.scaled_dot_product_attention(q, k, v)"],
                      ["return torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1) @ v"]),
    "loss": pair("logits, wanted", "[torch.randn(20, 7), torch.randint(0, 7, (20,))]",
                 ["return F.cross_entropy(logits, wanted)"],
                 ["return -torch.log_softmax(logits, 1)[torch.arange(20), wanted].mean()"]),
    "recurrent cell": pair("x, h", "[torch.randn(5, 6), torch.randn(5, 10)]", ["return self.cell(x, h)"],
                           ["c = self.cell",
                            "return torch.tanh(F.linear(x, c.weight_ih, c.bias_ih) + F.linear(h, c.weight_hh, c.bias_hh))"],
                           lines=["self.cell = nn.RNNCell(6, 10)"]),
    "pooling": pair("x", "[torch.randn(2, 3, 8, 8)]", ["return F.max_pool2d(x, 2)"],
                    ["return x.unfold(2, 2, 2).unfold(3, 2, 2).amax((-1, -2))"]),
    "embedding": pair("indices", "[torch.randint(0, 50, (4, 11))]", ["return self.table(indices)"],
                      ["return self.table.weight[indices]"], lines=["self.table = nn.Embedding(50, 12)"]),
    "reduction": pair("x", "[torch.randn(31, 17)]", ["return x.sum(0), x.mean(1)"],
                      ["return x.new_ones(31) @ x, x @ x.new_full((17,), 1 / 17)"]),
    "llama layer": pair("x", "[torch.randn(1, 12, 32)]",
                        ["h = x + self.mix(x)", "return h + self.down(F.silu(self.gate(h)) * self.up(h))"],
                        ["h = x + F.linear(x, self.mix.weight)", "g = self.gate(h)",
                         "return h + self.down(g * torch.sigmoid(g) * self.up(h))"],
                        lines=["self.mix = nn.Linear(32, 32, bias=False)", "self.gate = nn.Linear(32, 64, bias=False)",
                               "self.up = nn.Linear(32, 64, bias=False)", "self.down = nn.Linear(64, 32, bias=False)"]),
    # Normalised, turned by position, causal, two heads of keys for four of queries.
    "llama block": pair(
        "x", "[torch.randn(2, 10, 32)]",
        ["norm = lambda v, w: v * torch.rsqrt(v.square().mean(-1, keepdim=True) + 1e-6) * w",
         "q, k, v = self.qkv(norm(x, self.first)).split((32, 16, 16), -1)",
         "q, k, v = (t.view(2, 10, -1, 8).transpose(1, 2) for t in (q, k, v))",
         "q, k = (torch.view_as_real(torch.view_as_complex(t.reshape(*t.shape[:-1], 4, 2)) * self.turn).flatten(-2) for t in (q, k))",
         "k, v = (t.repeat_interleave(2, 1) for t in (k, v))",
         "h = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 10, 32))",
         "g = norm(h, self.second)", "return h + self.down(F.silu(self.gate(g)) * self.up(g))"],
        ["q, k, v = F.linear(F.rms_norm(x, (32,), self.first, 1e-6), self.qkv.weight).view(2, 10, 8, 8).transpose(1, 2).split((4, 2, 2), 1)",
         "c, s = self.turn.real, self.turn.imag",
         "q, k = (torch.stack((t[..., ::2] * c - t[..., 1::2] * s, t[..., ::2] * s + t[..., 1::2] * c), -1).flatten(-2) for t in (q, k))",
         "score = torch.einsum('bgrqd,bgkd->bgrqk', q.reshape(2, 2, 2, 10, 8), k) / 8 ** 0.5",
         "p = torch.softmax(score.masked_fill(torch.ones(10, 10, dtype=torch.bool, device=x.device).triu(1), -torch.inf), -1)",
         "h = x + self.out(torch.einsum('bgrqk,bgkd->bqgrd', p, v).reshape(2, 10, 32))",
         "g = F.rms_norm(h, (32,), self.second, 1e-6)", "both = F.linear(g, torch.cat([self.gate.weight, self.up.weight]))",
         "return h + (F.silu(both[..., :88]) * both[..., 88:]) @ self.down.weight.T"],
        lines=["self.first, self.second = nn.Parameter(torch.rand(32) + 0.5), nn.Parameter(torch.rand(32) + 0.5)",
               "self.qkv, self.out = nn.Linear(32, 64, bias=False), nn.Linear(32, 32, bias=False)",
               "self.gate, self.up = nn.Linear(32, 88, bias=False), nn.Linear(32, 88, bias=False)",
               "self.down = nn.Linear(88, 32, bias=False)",
               "angles = torch.outer(torch.arange(10.0), 10000.0 ** (-torch.arange(0, 8, 2) / 8))",
               "self.register_buffer('turn', torch.polar(torch.ones_like(angles), angles))"]),
    "dropout": pair("x", "[torch.ones(64, 64)]", ["return F.dropout(x, 0.5)"], ["return F.dropout(x, p=0.5)"]),
}
