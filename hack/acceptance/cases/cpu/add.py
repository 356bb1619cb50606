def add(a, b):
    print(f"adding {a} and {b}")
    return a + b
