import torch
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    a = x * 2
    x.add_(1)
    v = x[0]
with torch.set_grad_enabled(False):
    b = x + 1
with torch.enable_grad():
    c = x - 1
with torch.no_grad():
    with torch.enable_grad():
        d = x.sum()
d.backward()
