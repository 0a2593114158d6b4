import torch
x = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    a = x * 2
    b = torch.ones(2)
    b.add_(1)
    c = b[0]
    d = a.sum()
    e = b.clone()
    f = x.view(2, 1)
g = b + 1
h = b.clone()
i = a[0]
