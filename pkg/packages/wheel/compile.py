# Compiles modules, and runs nothing of them. It first says which Python it is. Then it reads the
# length of a path, the length of a source, the path and the source, and answers with the length
# of the bytecode and the bytecode; the length is 0 if the source has an error.
import importlib.util
import marshal
import struct
import sys
import warnings

output = sys.stdout.buffer
output.write(("kinetic-compile %s %d.%d %s\n" % (
    sys.implementation.cache_tag, sys.version_info[0], sys.version_info[1], sys.version_info[3],
)).encode())
output.flush()

warnings.simplefilter("ignore")
# PEP 552: neither the time nor the hash of the source is compared when the module is imported.
UNCHECKED = 1
start = importlib.util.MAGIC_NUMBER + struct.pack("<I", UNCHECKED)
source_hash = importlib.util.source_hash
while True:
    lengths = sys.stdin.buffer.read(8)
    if len(lengths) < 8:
        break
    path_length, source_length = struct.unpack("<II", lengths)
    path = sys.stdin.buffer.read(path_length).decode()
    source = sys.stdin.buffer.read(source_length)
    try:
        code = compile(source, path, "exec", dont_inherit=True, optimize=0)
        bytecode = start + source_hash(source) + marshal.dumps(code)
    except Exception:
        bytecode = b""
    output.write(struct.pack("<I", len(bytecode)) + bytecode)
    output.flush()
