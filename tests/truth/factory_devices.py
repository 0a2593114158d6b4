import torch
a = torch.rand(2, device="cpu")
b = torch.zeros(2, device=torch.device("cpu"), requires_grad=True)
c = torch.empty((2, 3), device="cpu", memory_format=torch.contiguous_format)
d = torch.ones(2, device="meta", dtype=torch.float16)
e = torch.rand(3, device="meta")
g = torch.full((2,), 1.0, device="meta")
