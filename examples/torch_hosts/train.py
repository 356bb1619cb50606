"""PyTorch on two hosts: each trains on its part of the data, and the gradients are averaged.

    python3 examples/torch_hosts/train.py

On CPUs the hosts talk over gloo, on GPUs over NCCL: accelerator="l4" and hosts=2.
"""

import argparse

import kinetic


@kinetic.run(hosts=2, cpu="500m", memory="1Gi")
def train(steps=200):
    """Fit y = 2x + 1 on all hosts; host 0 returns the two numbers."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    dist.init_process_group("nccl" if gpu else "gloo", init_method="env://")
    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(1, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, steps + 1):
        x = torch.rand(64, 1, device=device)
        loss = torch.nn.functional.mse_loss(model(x), 2 * x + 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"host {kinetic.host()} of {kinetic.hosts()}: step {step}, loss {loss.item():.5f}")
    dist.destroy_process_group()
    return {"slope": model.module.weight.item(), "offset": model.module.bias.item()}


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(train())
