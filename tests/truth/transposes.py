import torch
x = torch.ones(2, 3, 4)
a = x.transpose(0, 1)
b = x.permute(2, 0, 1)
c = x[0].t()
d = x.transpose(-1, -2)
e = x[0].T
f = torch.transpose(x, 0, 2)
g = torch.permute(x, (1, 0, 2))
h = torch.ones(3).t()
i = x.mT
j = x.swapaxes(0, 1)
