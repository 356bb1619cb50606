"""Answers questions about markers and versions with the library that pip uses.

Reads one JSON list per line: ["marker", TEXT, ENVIRONMENT], ["contains", SPECIFIER, VERSION] or
["order", VERSION, VERSION]. Writes one character for each: t for true, f for false, e for an
error, and <, = or > for an order.
"""
import json
import sys

from pip._vendor.packaging.markers import Marker
from pip._vendor.packaging.specifiers import Specifier
from pip._vendor.packaging.version import Version


def answer(kind, a, b):
    if kind == "marker":
        return "t" if Marker(a).evaluate(b) else "f"
    if kind == "contains":
        return "t" if Specifier(a).contains(b, prereleases=True) else "f"
    a, b = Version(a), Version(b)
    return "<" if a < b else ">" if a > b else "="


for line in sys.stdin:
    try:
        sys.stdout.write(answer(*json.loads(line)))
    except Exception:
        sys.stdout.write("e")
