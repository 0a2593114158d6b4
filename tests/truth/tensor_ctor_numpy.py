import torch
import numpy as np
a = torch.tensor(np.float64(3.0))
b = torch.tensor(np.array([1, 2]))
c = torch.tensor([np.float32(1), np.float32(2)])
d = torch.tensor([torch.tensor(1), torch.tensor(2)])
e = torch.as_tensor([1, 2])
f = torch.from_numpy(np.ones(3))
g = torch.as_tensor(np.ones((2, 2)))
