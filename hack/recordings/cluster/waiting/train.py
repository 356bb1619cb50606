def train(epochs: int = 3):
    return epochs
