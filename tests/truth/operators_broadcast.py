import torch
x = torch.ones(3, 1)
y = torch.ones(1, 4)
a = x + y
b = x * y
c = torch.ones(2, 3).t() - torch.ones(2)
d = torch.ones(2, 3).t() * torch.ones(3, 2)
e = x.expand(3, 4) + 1
f = torch.ones(0) + torch.ones(1)
