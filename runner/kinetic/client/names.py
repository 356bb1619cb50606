# Copyright 2026 The Kinetic for kubectl Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the names that a piece of code needs from where it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, Optional, Union

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
Comprehension = Union[ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp]


def needed(tree: ast.Module) -> set[str]:
    """Return the names that code may read before it has assigned them."""
    reader = Reader()
    reader.visit(tree)
    return reader.read


class Reader(ast.NodeVisitor):
    """Visits code in the order in which it runs.

    Args:
        assigned: the names that have a value already.
        outer: those of them that functions see, if the code is the body of a class.

    Attributes:
        assigned: the names that surely have a value after what was visited.
        read: the names that were read and may have had none.
    """

    def __init__(self, assigned: Iterable[str] = (), outer: Optional[set[str]] = None) -> None:
        self.assigned = set(assigned)
        self.read: set[str] = set()
        self._outer = outer

    def visit_all(self, nodes: Iterable[Optional[ast.AST]]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned.add(node.id)
            return
        if node.id not in self.assigned:
            self.read.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.assigned.discard(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit_all([node.value, *node.targets])

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target = ast.Name(node.target.id, ast.Load()) if isinstance(node.target, ast.Name) else None
        self.visit_all([target, node.value, node.target])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None or not isinstance(node.target, ast.Name):
            self.visit_all([node.value, node.target])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit_all([node.value, node.target])

    def visit_alias(self, node: ast.alias) -> None:
        self.assigned.add(node.asname or node.name.partition(".")[0])

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._one_of(node.body, node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._one_of(node.body, [])
        self._one_of(node.orelse, [])

    def visit_For(self, node: Union[ast.For, ast.AsyncFor]) -> None:
        self.visit(node.iter)
        self._one_of([node.target, *node.body], [])
        self._one_of(node.orelse, [])

    visit_AsyncFor = visit_For

    def visit_Try(self, node: Any) -> None:  # ast.Try, or ast.TryStar, which Python 3.9 lacks
        self._one_of([*node.body, *node.orelse], *([handler] for handler in node.handlers))
        self.visit_all(node.finalbody)

    visit_TryStar = visit_Try

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.visit_all([node.type])
        self.assigned |= {node.name} if node.name else set()
        self.visit_all(node.body)
        self.assigned -= {node.name} if node.name else set()

    # Python 3.9 has no match statement, so its nodes have no types here.

    def visit_Match(self, node: Any) -> None:
        self.visit(node.subject)
        self._one_of(*([case] for case in node.cases), [])

    def visit_MatchAs(self, node: Any) -> None:
        self.generic_visit(node)
        self.assigned |= {node.name} if node.name else set()

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: Any) -> None:
        self.generic_visit(node)
        self.assigned |= {node.rest} if node.rest else set()

    def visit_FunctionDef(self, node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> None:
        self.visit_all([*node.decorator_list, node.args, node.returns])
        self.assigned.add(node.name)
        self._function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._function(node, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._within(Reader(self.assigned, self._seen_by_functions() | {node.name}), node.body)
        self.assigned.add(node.name)

    def visit_ListComp(self, node: Comprehension) -> None:
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(Reader(self.assigned), [part for g in node.generators for part in (g.iter, g.target, *g.ifs)] + values)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _function(self, node: Function, body: Sequence[ast.AST]) -> None:
        """Visit the body of a function: what it reads is needed once it is called, and what it assigns is its own."""
        parameters = {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        self._within(Reader(self._seen_by_functions() | parameters), body)

    def _seen_by_functions(self) -> set[str]:
        return self.assigned if self._outer is None else self._outer

    def _within(self, inner: Reader, body: Sequence[ast.AST]) -> None:
        """Visit the body of a function, class or comprehension."""
        inner.visit_all(body)
        self.read |= inner.read

    def _one_of(self, *branches: Sequence[ast.AST]) -> None:
        """Visit blocks, only one of which runs."""
        ends = []
        for branch in branches:
            inner = Reader(self.assigned, self._outer)
            self._within(inner, branch)
            ends.append(inner.assigned)
        self.assigned = set.intersection(*ends)
