import torch
x = torch.ones(4, 5)
a = x[0]
b = x[1:]
c = x[0, 1]
d = x[None]
e = x[...]
f = x[:, 1:3]
g = x[..., 0]
h = x[::2, None, 1]
i = x[-1]
j = x[:]
k = x[0:4]
