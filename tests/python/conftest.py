"""One seed for every test, so that each gives the same alone and among the others; one thread where nothing
is said, since most tensors here are too small to share out. Tests of long sequences ask for `two_threads`."""

import pytest
import torch


@pytest.fixture(autouse=True)
def calm():
    torch.manual_seed(0)
    torch.set_num_threads(1)


@pytest.fixture
def two_threads(calm):
    torch.set_num_threads(2)
