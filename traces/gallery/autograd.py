# The article's autograd.cpp, line by line, through the C++ namespaces of the engine.
from engine.cpp import at, cout, endl, torch

x = torch.ones([2, 2])
cout << x << endl
cout << x.requires_grad() << endl  # 0
x = torch.ones([2, 2], torch.requires_grad())
# made with torch::requires_grad(), the tensor's requires_grad() is true
cout << x.requires_grad() << endl  # 1
y = x.mean()
cout << y << endl
cout << y.requires_grad() << endl  # 1

# the gradient of a tensor that is no leaf is kept only after retain_grad()
y.retain_grad()
y.backward()
cout << y.grad() << endl
cout << x.grad() << endl

# namespace at
x1 = at.ones([2, 2])
cout << x1.requires_grad() << endl  # 0
y1 = x1.mean()
cout << y1.requires_grad() << endl  # 0

# set_requires_grad makes an at:: tensor differentiable
x1.set_requires_grad(True)
cout << "after set requires grad: " << x1.requires_grad() << endl  # 1
cout << y1.requires_grad() << endl  # 0
# y1 was made before x1 changed, so it must be made again
y1 = x1.mean()
cout << y1.requires_grad() << endl  # 1
y1.retain_grad()
y1.backward()
cout << y1.grad() << endl
cout << x1.grad() << endl
