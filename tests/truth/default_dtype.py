import torch
torch.set_default_dtype(torch.float64)
a = torch.rand(2)
b = torch.zeros(2)
c = torch.tensor([1.0, 2.0])
d = torch.full((2,), 1.0)
e = torch.arange(2.0)
torch.set_default_dtype(torch.float32)
