import torch
x = torch.ones(2, 3)
a = torch.zeros_like(x, dtype=torch.int64)
b = torch.ones_like(x, dtype=torch.float64, requires_grad=True)
c = torch.rand_like(x, dtype=torch.float64)
d = torch.full_like(x, 3, dtype=torch.int32)
e = torch.empty_like(x, device="cpu")
f = torch.zeros_like(x, device="meta")
