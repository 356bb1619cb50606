"""Says from a file's syntax tree whether a function in it can be called.

Standard input is one line, FUNCTION HERE CALL CALL ..., and then the source, as bytes. HERE is true if
this python will run it; without a FUNCTION it is a script. A CALL is NUMBER,NAME,NAME,...: how many
arguments it passes by position, and the names of the others. FUNCTION and NAME are hexadecimal UTF-8,
as a name can have any characters. Standard output is one JSON object, about the first call that is wrong,
whose "outcome" is one of: ok, missing, generator, arguments, syntax, newer, unsure. Nothing of the source
is imported or run. What is not certain is "unsure": there are no false alarms. "decorator" has the
parameters of the function's @kinetic.run.
Runs on Python 3.8 and later; one that is too old for kinetic is never sure.
Each run after an edit waits for it, so it imports neither ast nor json, which take as long as all the rest.
"""
import _ast as ast  # the classes of ast, without its functions
import sys

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

# Names by which a module can change its own names, or a function's signature,
# out of sight of the syntax tree.
HIDDEN_CHANGES = {
    "exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "modules", "builtins", "__builtins__",
    "f_globals", "f_locals", "__dict__", "__setattr__", "__code__", "__defaults__", "__kwdefaults__",
}
HARMLESS_ATTRIBUTES = {"exec", "eval", "vars", "locals"}  # model.eval() is no eval()


def parse(source, mode):
    return compile(source, "<source>", mode, ast.PyCF_ONLY_AST)


def below(node):
    """The nodes directly below one."""
    for field in node._fields:
        value = getattr(node, field, None)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child


def walk(tree):
    """All nodes of a tree, level by level."""
    nodes = [tree]
    for node in nodes:  # the list grows meanwhile
        yield node
        nodes.extend(below(node))


def children(node):
    """The nodes directly below one that belong to the same scope."""
    if isinstance(node, FUNCTIONS):
        return node.decorator_list + [node.args] + ([node.returns] if node.returns else [])
    if isinstance(node, ast.Lambda):
        return [node.args]
    if isinstance(node, ast.ClassDef):
        return node.decorator_list + node.bases + node.keywords
    return list(below(node))


def scope(body):
    """All nodes of a scope, without the insides of those nested in it."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        todo.extend(children(node))


def bound_name(node):
    """The name that a node binds or deletes, or None."""
    if isinstance(node, ast.Name):
        return None if isinstance(node.ctx, ast.Load) else node.id
    if isinstance(node, ast.alias):
        return node.asname or node.name.partition(".")[0]
    for field in ("name", "rest"):  # def, class, except as, and the patterns of match
        name = getattr(node, field, None)
        if isinstance(name, str):
            return name
    return None


def hidden_change(tree, function):
    """Why the names of a module may be others than they seem, or None."""
    for node in walk(tree):
        word = None
        if isinstance(node, ast.Name):
            word = node.id
        elif isinstance(node, ast.alias):
            word = node.name
            if word == "*":
                return "the file has an import of *"
        elif isinstance(node, ast.Attribute):
            word = node.attr if node.attr not in HARMLESS_ATTRIBUTES else None
            if node.attr == function and not isinstance(node.ctx, ast.Load):
                return f"line {node.lineno} assigns to an attribute {function}"
        elif isinstance(node, ast.Global) and function in node.names:
            return f"line {node.lineno} declares {function} global"
        if word in HIDDEN_CHANGES:
            return f"the file uses {word}"
    return None


def unsure(why):
    return {"outcome": "unsure", "why": why}


def names(tree):
    """The nodes that bind names at the top level of a file, by name."""
    bound = {}
    for node in scope(tree.body):
        bound.setdefault(bound_name(node), []).append(node)
    return bound


def judge(tree, bound, function, calls):
    hidden = hidden_change(tree, function)
    if hidden:
        return unsure(hidden)
    if "__getattr__" in bound:
        return unsure("the file has a __getattr__ of its own")
    found = bound.get(function, [])
    if not found:
        return missing(tree, bound, function)
    if len(found) > 1:
        return unsure(f"the file binds {function} more than once")
    node = found[0]
    if not isinstance(node, FUNCTIONS) or node not in tree.body:
        return unsure(f"{function} is not a plain function at the top level of the file")
    if not all(is_ours(d, bound) for d in node.decorator_list):
        return unsure(f"{function} is decorated")
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in scope(node.body)):
        return {"outcome": "generator", "line": node.lineno}
    for number, (count, given) in enumerate(calls):
        answer = arguments(node, given, count, bound)
        if answer["outcome"] != "ok":
            return dict(answer, call=number)
    return {"outcome": "ok", "declared": answer["declared"], "positional": answer["positional"]}


def is_ours(decorator, bound):
    """Whether a decorator is kinetic.run, which a job calls through to the function."""
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    is_run = isinstance(name, ast.Attribute) and name.attr == "run" and isinstance(name.value, ast.Name) and name.value.id == "kinetic"
    return is_run and all(isinstance(n, ast.alias) and n.name == "kinetic" for n in bound.get("kinetic", []))


def parameters(tree, bound, function):
    """The parameters of a function's @kinetic.run: {"name": NAME, "value": the text of a constant, else null}, without those that are None."""
    given = []
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and node.name == function:
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and is_ours(call, bound):
                    given = [("accelerator", value) for value in call.args[:1]] + [(k.arg, k.value) for k in call.keywords if k.arg]
    return [{"name": name, "value": constant(value)} for name, value in given if not is_none(value)]


def is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def constant(node):
    """The value of a constant as a flag has it, or None."""
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None


def missing(tree, bound, function):
    functions = [name for name, nodes in bound.items() if any(isinstance(n, FUNCTIONS) for n in nodes)]
    classes = [c.name for c in tree.body if isinstance(c, ast.ClassDef)
               and any(isinstance(n, FUNCTIONS) and n.name == function for n in c.body)]
    return {"outcome": "missing", "functions": sorted(functions), "method_of": classes[:1]}


def arguments(node, given, count, bound):
    """Compares the parameters of a function with the names given, and a number of arguments before them."""
    a = node.args
    positional = a.posonlyargs + a.args
    optional = {p.arg for p in positional[len(positional) - len(a.defaults):]}
    optional |= {p.arg for p, default in zip(a.kwonlyargs, a.kw_defaults) if default}
    filled = {p.arg for p in positional[:count]}
    excess = 0 if a.vararg else max(0, count - len(positional))
    unnamed = [p.arg for p in a.posonlyargs if p.arg not in filled]
    named = [p.arg for p in a.args + a.kwonlyargs]
    answer = {
        "line": node.lineno,
        "signature": signature(a, optional),
        "named": named,
        "unexpected": [n for n in given if n not in named and not a.kwarg],
        "required": [n for n in named if n not in optional and n not in given and n not in filled],
        "unnamed": [n for n in unnamed if n not in optional or (n in given and not a.kwarg)],
        "places": len(positional),
        "excess": excess,
        "twice": [n for n in named if n in filled and n in given],
    }
    wrong = answer["unexpected"] or answer["required"] or answer["unnamed"] or answer["excess"] or answer["twice"]
    answer["outcome"] = "arguments" if wrong else "ok"
    annotated = {p.arg: kinds(p.annotation, bound) for p in positional + a.kwonlyargs}
    answer["declared"] = {name: found for name, found in annotated.items() if found}
    answer["positional"] = [p.arg for p in positional]
    return answer


BUILTIN = ("str", "int", "float", "bool", "list", "dict")
GENERIC = {"List": "list", "Tuple": "list", "Dict": "dict", "Mapping": "dict"}


def kinds(annotation, bound):
    """The types that an annotation allows, such as ["int", "None"]; empty if one of them is unknown here."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return kinds(parse(annotation.value, "eval").body, bound)
        except (SyntaxError, ValueError):  # ValueError: lone surrogates, or NUL
            return []
    if isinstance(annotation, ast.Constant):
        return ["None"] if annotation.value is None else []
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return every([annotation.left, annotation.right], bound)
    if isinstance(annotation, ast.Subscript):
        inside = annotation.slice
        if type(inside).__name__ == "Index":  # Python 3.8
            inside = inside.value
        generic = word(annotation.value, bound)
        if generic == "Union":
            return every(inside.elts if isinstance(inside, ast.Tuple) else [inside], bound)
        if generic == "Optional":
            return every([inside, ast.Constant(None)], bound)
        return kinds(annotation.value, bound)
    name = word(annotation, bound)
    return [name] if name in BUILTIN else [GENERIC[name]] if name in GENERIC else []


def every(annotations, bound):
    found = [kinds(a, bound) for a in annotations]
    return sorted(set(sum(found, [])), key=lambda kind: (kind == "None", kind)) if all(found) else []


def word(node, bound):
    """The name of a type that is certainly Python's own, or one of typing; None for others."""
    if isinstance(node, ast.Attribute):
        return node.attr if node.attr not in BUILTIN and isinstance(node.value, ast.Name) and node.value.id == "typing" else None
    if not isinstance(node, ast.Name):
        return None
    if node.id in BUILTIN:
        return None if node.id in bound else node.id
    imports = bound.get(node.id, [])
    return node.id if imports and all(isinstance(n, ast.alias) and n.name == node.id for n in imports) else None


def signature(a, optional):
    def text(p):
        return p.arg + "=\u2026" if p.arg in optional else p.arg

    parts = [text(p) for p in a.posonlyargs] + ["/"] * bool(a.posonlyargs) + [text(p) for p in a.args]
    if a.vararg or a.kwonlyargs:
        parts.append("*" + (a.vararg.arg if a.vararg else ""))
    parts += [text(p) for p in a.kwonlyargs]
    if a.kwarg:
        parts.append("**" + a.kwarg.arg)
    return "(" + ", ".join(parts) + ")"


# Syntax that a newer Python has: since when, what a line of it looks like, and
# how an older one complains where the line alone does not tell.
NEWER = (
    ((3, 10), r"\s*(match|case)\b.*:|\s*(async\s+)?with\s*\(", ""),
    ((3, 11), r"\s*except\s*\*", ""),
    ((3, 12), r"\s*type\s+\w+.*=|\s*((async\s+)?def|class)\s+\w+\s*\[", ""),
    ((3, 12), r".*[fF]['\"]", "f-string"),
    ((3, 14), r".*\b[tT]['\"]|\s*except\s+[\w.]+\s*,", ""),
)


def may_be_newer(text, message):
    import re  # slow, and seldom needed

    return any(sys.version_info < since and re.match(line, text) and message.startswith(start) for since, line, start in NEWER)


def syntax(line, text, message, here=True):
    version = sys.version.split()[0]
    if not here and (sys.version_info < (3, 9) or may_be_newer(text, message)):
        return {"outcome": "newer", "why": f"python {version} finds a syntax error in line {line}, where a newer one may find none"}
    return {"outcome": "syntax", "line": line, "text": text, "message": message, "python": version}


def check(source, function, calls, here):
    if b"\0" in source:
        return syntax(source[:source.index(b"\0")].count(b"\n") + 1, "", "source code cannot contain null bytes")
    try:
        tree = parse(source, "exec")
        compile(source, "<source>", "exec", dont_inherit=True)  # finds what the grammar alone allows
    except SyntaxError as error:
        message = str(error.msg)
        if message.startswith(("unknown encoding", "encoding problem")):
            return unsure(message)
        return syntax(error.lineno or 0, (error.text or "").strip(), message, here)
    except (RecursionError, MemoryError):
        return unsure("the file is too deeply nested for the python here")
    if not function:
        return {"outcome": "ok", "idle": idle(tree.body)}
    bound = names(tree)
    return dict(judge(tree, bound, function, calls), decorator=parameters(tree, bound, function))


def idle(body):
    """The functions of a script that does nothing but define them; empty if it may do something."""
    functions = [node.name for node in body if isinstance(node, FUNCTIONS)]
    return [name for name in functions if name[0] != "_"] if all(map(only_defines, body)) else []


def only_defines(node):
    if isinstance(node, FUNCTIONS):
        defaults = node.args.defaults + [d for d in node.args.kw_defaults if d]
        return not node.decorator_list and all(isinstance(d, ast.Constant) for d in defaults)
    if isinstance(node, ast.ClassDef):
        return not node.decorator_list and all(map(only_defines, node.body))
    if isinstance(node, ast.Pass):
        return True
    value = getattr(node, "value", None)
    return isinstance(node, (ast.Import, ast.ImportFrom)) or isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)) and isinstance(value, ast.Constant)


def to_json(value):
    """The JSON of a string, an int, None, or a list or dict of these."""
    if isinstance(value, str):  # UTF-8 has no lone surrogates
        return '"' + "".join(f"\\u{ord(c):04x}" if c < " " or c in '"\\' or "\ud800" <= c <= "\udfff" else c for c in value) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(to_json(k) + ": " + to_json(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_json, value)) + "]"
    return "null" if value is None else str(value)


def decode(name):
    return bytes.fromhex(name).decode()


def passed(call):
    """The number of arguments without a name, and the names of the others."""
    count, *given = call.split(",")
    return int(count), list(map(decode, given))


def main():
    head, _, source = sys.stdin.buffer.read().partition(b"\n")
    function, here, *calls = head.decode().split(" ")
    answer = check(source, decode(function), map(passed, calls), here == "true")
    sys.stdout.buffer.write(to_json(dict(answer, executable=sys.executable)).encode())


main()
