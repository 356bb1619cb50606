"""Answers questions about markers and versions with the library that pip uses.

Reads one JSON list per line and writes one JSON value per line:
["marker", TEXT, ENVIRONMENT], ["contains", SPECIFIER, VERSION] or ["order", VERSION, VERSION].
An error is answered with the string "error".
"""
import json
import sys

from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.specifiers import Specifier
from pip._vendor.packaging.version import Version


def answer(kind, a, b):
    if kind == "marker":
        return Marker(a).evaluate(b)
    if kind == "contains":
        return Specifier(a).contains(b, prereleases=True)
    a, b = Version(a), Version(b)
    return (a > b) - (a < b)


for line in sys.stdin:
    try:
        print(json.dumps(answer(*json.loads(line))))
    except Exception:
        print('"error"')
