import torch
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
(x * 3).sum().backward()
x.grad.zero_()
(x * x).sum().backward()
x.grad = None
(x + x * x).sum().backward()
print(x.grad.tolist())
