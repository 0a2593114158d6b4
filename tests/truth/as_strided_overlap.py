import torch
x = torch.arange(6.0)
a = x.as_strided((2, 2), (1, 2))
b = torch.as_strided(x, (2,), (1,), 1)
x.as_strided((2,), (3,)).add_(1)
w = torch.ones(4, requires_grad=True)
w.as_strided((2, 2), (1, 1)).sum().backward()
