"""Programs that write checkpoints as frameworks do, in small steps that are counted, and the check of what is restored."""

import hashlib
import mmap
import os
import random
import shutil
import struct

HF_FILES = ("config.json", "model.safetensors", "training_args.bin", "sub/optimizer.pt", "rng_state.pth", "trainer_state.json")
ORBAX_FILES = ("d/a", "d/b", "_METADATA")
DCP_FILES = ("__0_0.distcp", "__1_0.distcp", ".metadata")
RENAMED_FILES = ("model.bin", "sub/state.bin")
LINE = "step %06d: the loss goes down\n"


def content(name, number):
    """The bytes that a writer puts into a file: each file, each number has its own."""
    size = random.Random(f"{name} {number}").randrange(1, 4000)
    return hashlib.sha256(f"{name} {number}".encode()).digest() * size


class Steps:
    """Counts the steps of processes. The last of them is the copying, whose steps are its rounds."""

    def __init__(self, writers):
        self._memory, self._writers = mmap.mmap(-1, 8 * writers), writers

    def count(self, number):
        struct.pack_into("Q", self._memory, 8 * (number % self._writers), self[number] + 1)

    def __getitem__(self, number):
        return struct.unpack_from("Q", self._memory, 8 * (number % self._writers))[0]

    def all(self):
        return [self[number] for number in range(self._writers)]


class Writer:
    """One framework. Each write is a step, and none is without effect on the file that is being written."""

    def __init__(self, root, seed, step, rounds):
        self.root, self.random, self.step, self.rounds = root, random.Random(seed), step, rounds
        os.makedirs(root, exist_ok=True)

    def train(self):
        """Writes nothing for some rounds of the copying."""
        until = self.rounds() + self.random.randrange(5)
        while self.rounds() < until:
            self.step()

    def write(self, path, data):
        """Writes a file in place, in several steps."""
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb", buffering=0) as file:
            pieces = self.random.randrange(1, 4)
            for piece in range(pieces):
                file.write(data[len(data) * piece // pieces : len(data) * (piece + 1) // pieces])
                self.step()

    def run(self, number):
        raise NotImplementedError


class Trainer(Writer):
    """Hugging Face: straight into checkpoint-N, trainer_state.json last, and the oldest removed."""

    def run(self, number):
        for name in HF_FILES:
            self.write(f"checkpoint-{number}/{name}", content(name, number))
        shutil.rmtree(os.path.join(self.root, f"checkpoint-{number - 3}"), ignore_errors=True)
        self.train()


class Orbax(Writer):
    """Orbax: into a temporary directory, which is renamed."""

    def run(self, number):
        temporary = f"{number}.orbax-checkpoint-tmp"
        for name in ORBAX_FILES:
            self.write(f"{temporary}/{name}", content(name, number))
        os.rename(os.path.join(self.root, temporary), os.path.join(self.root, str(number)))
        self.train()


class Keras(Writer):
    """Keras' BackupAndRestore: a copy of the last weights, then new ones in place, then the epoch."""

    def run(self, number):
        latest, copy = (os.path.join(self.root, name) for name in ("latest.weights.h5", "_latest.weights.h5"))
        if os.path.exists(latest):
            shutil.copyfile(latest, copy)
            self.step()
        self.write("latest.weights.h5", content("weights", number))
        self.write("training_metadata.json", content("metadata", number))
        self.train()


class Lightning(Writer):
    """Lightning: a file from elsewhere, moved or, from another disk, copied; a link to the last one; then the one before is removed."""

    def run(self, number):
        name = f"epoch-{number}.ckpt"
        if self.random.random() < 0.5:
            self.write(f"../elsewhere-{os.path.basename(self.root)}", content("lightning", number))
            os.rename(f"{os.path.dirname(self.root)}/elsewhere-{os.path.basename(self.root)}", os.path.join(self.root, name))
            self.step()
        else:
            self.write(name, content("lightning", number))
        link, earlier = (os.path.join(self.root, name) for name in ("last.ckpt", f"epoch-{number - 1}.ckpt"))
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(name, link)
        self.step()
        if os.path.exists(earlier):
            os.remove(earlier)
        self.train()


class Sharded(Writer):
    """torch.distributed.checkpoint: the shards of a new directory, then what says what is in them."""

    def run(self, number):
        for name in DCP_FILES:
            self.write(f"step-{number}/{name}", content(name, number))
        self.train()


class Renaming(Writer):
    """Checkpoints that get another name after they may have been saved."""

    def run(self, number):
        for name in RENAMED_FILES:
            self.write(f"new-{number}/{name}", content(name, number))
        self.train()
        os.rename(os.path.join(self.root, f"new-{number}"), os.path.join(self.root, f"kept-{number}"))
        self.step()
        self.train()


class Torch(Writer):
    """torch.save: one file after the other in one directory, each written in place."""

    def run(self, number):
        self.write(f"step-{number}.pt", content("torch", number))
        self.train()


class Log(Writer):
    """A log that stays open."""

    def run(self, number):
        if number == 1:
            self.file = open(os.path.join(self.root, "train.log"), "w", buffering=1)
        self.file.write(LINE % number)
        self.step()


WRITERS = {
    "hf": Trainer, "orbax": Orbax, "keras": Keras, "lightning": Lightning, "dcp": Sharded, "torch": Torch, "renamed": Renaming, "log": Log,
}  # fmt: skip


def broken(root):
    """What of a restored directory is not whole, and how many checkpoints there are."""
    found, count = [], 0

    def whole(path, name, numbers):
        try:
            with open(os.path.join(root, path), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            data = None
        if not any(data == content(name, number) for number in numbers):
            found.append(path)

    def names(folder):
        return os.listdir(os.path.join(root, folder)) if os.path.isdir(os.path.join(root, folder)) else []

    for writer, files in (("hf", HF_FILES), ("orbax", ORBAX_FILES), ("dcp", DCP_FILES), ("renamed", RENAMED_FILES)):
        for folder in names(writer):
            count += 1
            for name in files:
                whole(f"{writer}/{folder}/{name}", name, [int(folder.split("-")[-1])])
    for file in names("keras"):
        count += 1
        whole(f"keras/{file}", "metadata" if file.endswith(".json") else "weights", range(1, 1000))
    for file in names("lightning"):
        count += 1
        number = os.readlink(os.path.join(root, "lightning", file)) if file == "last.ckpt" else file
        whole(f"lightning/{file}", "lightning", [int(number[len("epoch-") : -len(".ckpt")])])
    for file in names("torch"):
        count += 1
        whole(f"torch/{file}", "torch", [int(file[len("step-") : -len(".pt")])])
    for file in names("log"):
        with open(os.path.join(root, "log", file)) as log:
            text = log.read()
        if not "".join(LINE % number for number in range(1, text.count("\n") + 2)).startswith(text):
            found.append(f"log/{file}")
    return found, count
