def train(lr=0.1):
    loss = 1.0
    for step in range(3):
        loss *= 1 - lr
        print(f"step {step}  loss {loss:.3f}")
    return {"loss": round(loss, 3)}
