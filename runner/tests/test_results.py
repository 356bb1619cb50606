"""What the runner publishes of a returned value: result.json, the pickle, and the termination message."""

import json
import math
import pickle
import unittest

from fixture import RunnerCase, function


class PublishedValues(RunnerCase):
    def test_nan_is_null_with_the_exact_value_in_the_pickle(self):
        ran = self.call("def f(): return {'loss': [1.0, float('nan')]}")
        self.assertEqual((ran.code, ran.result["value"], ran.result["pickle"]), (0, {"loss": [1.0, None]}, "result.pkl"))
        self.assertEqual(ran.result["warnings"], ["value.loss[1] is NaN: null in JSON"])
        self.assertTrue(ran.result["differs"])
        self.assertTrue(math.isnan(pickle.loads(self.read("result.pkl"))["loss"][1]))

    def test_nan_beside_something_unpicklable(self):
        ran = self.call("class A:\n  def tolist(self): return [float('nan')]\n  def __reduce__(self): raise TypeError\ndef f(): return A()")
        self.assertEqual((ran.code, ran.result["value"], ran.result["pickle"]), (0, [None], None))
        self.assertIn("cannot be pickled", ran.result["warnings"][-1])
        self.assertFalse(self.exists("result.pkl"))

    def test_types_with_a_form_of_their_own_make_no_warning(self):
        ran = self.call("import datetime\ndef f(): return {'day': datetime.date(2026, 4, 17), 'ids': {2, 1}}")
        self.assertEqual((ran.code, ran.result["value"]), (0, {"day": "2026-04-17", "ids": [1, 2]}), ran.out)
        self.assertEqual((ran.result["warnings"], ran.result["differs"]), ([], False))
        self.assertEqual(pickle.loads(self.read("result.pkl"))["ids"], {1, 2})

    def test_value_without_a_json_form_succeeds(self):
        ran = self.call("def f(): return {'kind': dict, 'loss': 0.5}")
        self.assertEqual((ran.code, ran.end["reason"], ran.result["pickle"]), (0, "Completed", "result.pkl"), ran.out)
        self.assertEqual(ran.result["value"], {"kind": "<class 'dict'>", "loss": 0.5})
        self.assertEqual(ran.result["warnings"][0], "value.kind is of type type, which has no JSON form; JSON has its repr")
        self.assertEqual(pickle.loads(self.read("result.pkl")), {"kind": dict, "loss": 0.5})

    def test_neither_a_json_form_nor_a_pickle(self):
        ran = self.call("class A:\n  def __reduce__(self): raise TypeError\n  def __repr__(self): return 'x' * 30000\ndef f(): return [A()]")
        self.assertEqual((ran.code, ran.end["reason"], ran.result["pickle"]), (0, "Completed", None), ran.out)
        self.assertEqual(ran.result["value"], ["x" * 20_000])
        self.assertIn("value[0] is of type train.A", ran.result["warnings"][0])

    def test_broken_repr(self):
        ran = self.call("class A:\n  def __repr__(self): raise ValueError\ndef f(): return A()")
        self.assertEqual((ran.code, ran.result["value"]), (0, "<train.A object>"), ran.out)

    def test_cloudpickle_is_used_where_the_image_has_it(self):
        module = """
            class CloudPickler:
                def __init__(self, file, protocol): self.dump = lambda value: file.write(b"by cloudpickle %d" % protocol)
        """
        ran = self.run_call(function(), {"train.py": "def f(): return lambda: 0", "cloudpickle.py": module})
        self.assertEqual((ran.code, ran.result["pickle"]), (0, "result.pkl"), ran.out)
        self.assertEqual(self.read("result.pkl"), b"by cloudpickle 4")

    def test_five_megabytes(self):
        ran = self.call("def f(n): return ['x' * 1024] * n", kwargs={"n": 5120})
        self.assertEqual(ran.code, 0, ran.out)
        self.assertEqual(ran.result["value"], ["x" * 1024] * 5120)
        self.assertNotIn("value", json.loads(self.termination()))
        self.assertLess(len(self.termination()), 4096)

    def test_termination_message_has_small_values_only(self):
        for size, there in ((3069, True), (3070, False)):  # and two quotes
            with self.subTest(size):
                self.setUp()
                self.call("def f(n): return 'v' * n", kwargs={"n": size})
                self.assertEqual(json.loads(self.termination()).get("value"), "v" * size if there else None)
                self.assertLess(len(self.termination()), 4096)


if __name__ == "__main__":
    unittest.main()
