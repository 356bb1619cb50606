"""scikit-learn on its own handwritten digits: an array goes in, a fitted model comes back.

    python3 examples/digits/train.py [--local]
"""

import argparse

import kinetic
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC


@kinetic.run(cpu="1", memory="2Gi")
def fit(images, labels, gamma=0.001):
    """Return a classifier that was fitted to the images, one row each."""
    return SVC(gamma=gamma).fit(images, labels)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--local", action="store_true", help="run on this machine")
    kinetic.configure(local=parser.parse_args().local)
    digits = load_digits()
    images, test_images, labels, test_labels = train_test_split(digits.data, digits.target, random_state=0)
    model = fit(images, labels)
    print(f"accuracy: {model.score(test_images, test_labels):.3f}")
