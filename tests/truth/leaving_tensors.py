import torch
x = torch.tensor([1.0, 2.0])
s = x.sum()
print(s.item(), float(s), int(s), bool(s))
print(x.tolist(), len(x), x.numpy())
print(x[0].item(), torch.tensor(3).item(), torch.tensor(True).item())
print(torch.tensor(2).tolist(), x.shape, x.size(0), x.dim(), x.numel())
if s:
    pass
