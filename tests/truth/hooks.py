import torch
x = torch.ones(2, requires_grad=True)
h = x.register_hook(lambda g: g * 2)
y = x * 3
y.register_hook(lambda g: g + 1)
y.sum().backward()
h.remove()
def clear(p):
    p.grad.zero_()
x.register_post_accumulate_grad_hook(clear)
(x * 2).sum().backward()
print(x.grad.tolist())
