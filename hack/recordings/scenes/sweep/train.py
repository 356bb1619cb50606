def fit(rate: float, steps: int = 10):
    weight = 0.0
    for _ in range(steps):
        weight += rate * (3.0 - weight)
    return {"loss": round((3.0 - weight) ** 2, 6)}
