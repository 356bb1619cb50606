import array

import kinetic


@kinetic.run(cpu="250m", memory="512Mi")
def scale(values, by=2):
    print(f"scaling on host {kinetic.host()}")
    return array.array("d", [by * value for value in values])


@kinetic.run(cpu="250m", memory="512Mi")
def fails():
    raise ValueError("as it should")


if __name__ == "__main__":
    print(list(scale([1, 2.5])))
    try:
        fails()
    except ValueError as exc:
        print("ValueError:", exc)
