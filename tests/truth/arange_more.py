import torch
a = torch.arange(5, dtype=torch.float64)
b = torch.arange(2.5)
c = torch.arange(1, 10, 3)
d = torch.arange(0, 1, 0.25, requires_grad=True)
e = torch.arange(end=3)
f = torch.arange(0)
g = torch.arange(5, 0, -1)
