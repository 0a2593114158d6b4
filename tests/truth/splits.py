import torch
x = torch.arange(6.0)
a, b = x.chunk(2)
c, d, e = x.split(2)
f, g = x.view(2, 3).unbind()
for row in x.view(3, 2):
    row.add_(1)
