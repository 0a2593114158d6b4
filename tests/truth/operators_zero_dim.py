import torch
x = torch.ones(2)
s = torch.tensor(2.0, dtype=torch.float64)
a = x * s
b = s * x
c = s + 1
d = s - s
e = x + torch.tensor(3)
x += s
