import torch
x = torch.ones(2, 3)
a = x + 1
b = 1 + x
c = x - 2.0
d = 2 - x
e = x * 3
f = 3 * x
g = x / 2
h = 2 / x
i = -x
j = +x
k = torch.add(x, 1)
l = torch.mul(x, 2)
