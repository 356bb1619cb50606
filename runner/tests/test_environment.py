"""What the runner adds to the environment of a call, and what it takes away."""

import json
import os
import shutil
import tempfile
import unittest
from unittest import mock

from fixture import command, function, script
from group import GroupCase
from kinetic_runner import environment
from test_map import MapCase


class Case(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="kinetic-environment-")
        self.addCleanup(shutil.rmtree, self.root)

    def directory(self, name):
        path = os.path.join(self.root, name)
        os.makedirs(path)
        return path


class GPULibraries(Case):
    def test_appended(self):
        lib, bin = self.directory("usr/local/nvidia/lib64"), self.directory("usr/local/nvidia/bin")
        cases = {
            "unset": ({}, {"LD_LIBRARY_PATH": lib, "PATH": f"{os.defpath}:{bin}"}),
            "empty": ({"LD_LIBRARY_PATH": "", "PATH": ""}, {"LD_LIBRARY_PATH": lib, "PATH": f"{os.defpath}:{bin}"}),
            "behind the image's own": (
                {"LD_LIBRARY_PATH": "/opt/cuda/lib64:/opt/nccl", "PATH": "/opt/bin:/bin"},
                {"LD_LIBRARY_PATH": f"/opt/cuda/lib64:/opt/nccl:{lib}", "PATH": f"/opt/bin:/bin:{bin}"},
            ),
            "there already": ({"LD_LIBRARY_PATH": f"{lib}:/opt", "PATH": f"{bin}:/bin"}, {}),
            "one there already": ({"LD_LIBRARY_PATH": lib, "PATH": "/bin"}, {"PATH": f"/bin:{bin}"}),
            "a longer name": ({"LD_LIBRARY_PATH": lib + "/stubs", "PATH": bin}, {"LD_LIBRARY_PATH": f"{lib}/stubs:{lib}"}),
        }
        for name, (environ, want) in cases.items():
            with self.subTest(name):
                before = dict(environ)
                self.assertEqual(environment.gpu_libraries(environ, self.root), want)
                self.assertEqual(environ, before)

    def test_not_mounted(self):
        self.assertEqual(environment.gpu_libraries({}, self.root), {})

    def test_libraries_alone(self):
        lib = self.directory("usr/local/nvidia/lib64")
        self.assertEqual(environment.gpu_libraries({"PATH": "/bin"}, self.root), {"LD_LIBRARY_PATH": lib})

    def test_root(self):
        with mock.patch("os.path.isdir", lambda path: path == "/usr/local/nvidia/lib64"):
            self.assertEqual(environment.gpu_libraries({"PATH": "/bin"}), {"LD_LIBRARY_PATH": "/usr/local/nvidia/lib64"})


class NCCLVariables(Case):
    """The script of NCCL's plugin is sourced where KINETIC_NETWORK says that there is one."""

    def setUp(self):
        super().setUp()
        self.said = []

    def put(self, network, text):
        path = os.path.join(self.root, environment.NETWORKS[network][1])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def found(self, **environ):
        return environment.nccl_variables(dict(PATH=os.environ["PATH"], **environ), self.said.append, self.root)

    def test_exported(self):
        text = "echo noise\nexport NCCL_NET=gIB NCCL_CROSS_NIC=0\nNCCL_LOCAL=1\nexport NCCL_LIST='a b\nc=d'\nfalse\n"
        for network in environment.NETWORKS:
            with self.subTest(network):
                self.put(network, text)
                self.assertEqual(self.found(KINETIC_NETWORK=network), {"NCCL_NET": "gIB", "NCCL_CROSS_NIC": "0", "NCCL_LIST": "a b\nc=d"})
        self.assertEqual(self.said, [])

    def test_the_users_own_win(self):
        self.put("rdma", "export NCCL_NET=gIB NCCL_DEBUG=INFO NCCL_IB_TC=52 LD_LIBRARY_PATH=/elsewhere\nunset KEEP\n")
        self.assertEqual(self.found(KINETIC_NETWORK="rdma", NCCL_DEBUG="WARN", NCCL_NET="", LD_LIBRARY_PATH="/opt", KEEP="1"), {"NCCL_IB_TC": "52"})

    def test_it_sees_the_calls_environment(self):
        self.put("tcpxo", "export NCCL_TUNER_CONFIG_PATH=$NCCL_LIB_DIR/tuner\n")
        self.assertEqual(self.found(KINETIC_NETWORK="tcpxo", NCCL_LIB_DIR="/lib64"), {"NCCL_TUNER_CONFIG_PATH": "/lib64/tuner"})

    def test_no_network(self):
        self.put("rdma", "export NCCL_NET=gIB\n")
        for environ in ({}, {"KINETIC_NETWORK": ""}, {"KINETIC_NETWORK": "other"}):
            self.assertEqual(self.found(**environ), {})
        self.assertEqual(self.said, [])

    def test_failures_are_told(self):
        cases = {
            "it is not on this node": None,
            "it ended with code 3: no such machine": "echo no such machine >&2\nexport NCCL_NET=gIB\nexit 3\n",
            "timed out": "exec sleep 100\n",
        }
        for want, text in cases.items():
            with self.subTest(want), mock.patch.object(environment, "SCRIPT_SECONDS", 0.05 if want == "timed out" else 60):
                self.said = []
                if text is not None:
                    self.put("rdma", text)
                self.assertEqual(self.found(KINETIC_NETWORK="rdma"), {})
                self.assertEqual(len(self.said), 1)
                self.assertIn("NCCL may use plain TCP, because ", self.said[0])
                self.assertIn(want, self.said[0])

    def test_without_bash(self):
        self.put("rdma", "export NCCL_NET=gIB\n")
        self.assertEqual(environment.nccl_variables({"KINETIC_NETWORK": "rdma", "PATH": "/nowhere"}, self.said.append, self.root)["NCCL_NET"], "gIB")

    def test_the_libraries_of_the_plugin(self):
        driver, plugin = self.directory("usr/local/nvidia/lib64"), self.directory("usr/local/gib/lib64")
        for network, want in {"rdma": f"/opt:{driver}:{plugin}", "tcpxo": f"/opt:{driver}", "": f"/opt:{driver}"}.items():
            environ = {"KINETIC_NETWORK": network, "LD_LIBRARY_PATH": "/opt", "PATH": "/bin"}
            self.assertEqual(environment.gpu_libraries(environ, self.root), {"LD_LIBRARY_PATH": want})

    def test_a_group_is_given_them(self):
        self.assertEqual(environment.at_start({"KINETIC_NETWORK": "rdma", "PATH": "/bin"}, self.said.append).get("NCCL_NET"), None)
        self.assertIn("/usr/local/gib/scripts/set_nccl_env.sh can't be used", self.said[0])


class PythonDefaults(unittest.TestCase):
    def test_defaults(self):
        cases = {
            "unset": ({}, {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}),
            "set": ({"PYTHONUNBUFFERED": "x", "PYTHONFAULTHANDLER": "1"}, {}),
            "turned off": ({"PYTHONUNBUFFERED": "", "PYTHONFAULTHANDLER": ""}, {}),
            "one set": ({"PYTHONUNBUFFERED": "1"}, {"PYTHONFAULTHANDLER": "1"}),
        }
        for name, (environ, want) in cases.items():
            with self.subTest(name):
                self.assertEqual(environment.python_defaults(environ), want)


class TemporaryDirectory(Case):
    def test_where(self):
        good, scratch = self.directory("good"), self.directory("scratch")
        missing, file = os.path.join(self.root, "missing"), os.path.join(self.root, "file")
        with open(file, "w"):
            pass
        read_only, new = self.directory("read-only"), {"TMPDIR": os.path.join(scratch, "tmp")}
        cases = {
            "system": ({}, [missing, good], {}),
            "TMPDIR": ({"TMPDIR": good}, [missing], {}),
            "TEMP": ({"TEMP": good}, [missing], {}),
            "TMP": ({"TMP": good}, [missing], {}),
            "none": ({}, [missing, file, read_only], new),
            "variables are wrong, and the system's are missing": ({"TMPDIR": missing, "TEMP": read_only, "TMP": ""}, [missing], new),
            "a variable is wrong, and the system's are there": ({"TMPDIR": missing}, [good], {}),
        }
        access = os.access  # which lets root write to any directory that is not mounted read-only
        with mock.patch("os.access", lambda path, mode: path != read_only and access(path, mode)):
            for name, (environ, system, want) in cases.items():
                with self.subTest(name):
                    self.assertEqual(environment.temporary_directory(environ, scratch, system), want)
        self.assertEqual(os.stat(new["TMPDIR"]).st_mode & 0o777, 0o700)

    def test_a_second_call_uses_the_same(self):
        want = {"TMPDIR": os.path.join(self.root, "tmp")}
        for _ in range(2):
            self.assertEqual(environment.temporary_directory({}, self.root, ()), want)


class Credentials(MapCase):
    """Credentials for package indexes are the runner's alone, with and without packages."""

    SHOW = "import os\ndef f(*_): return os.environ.get('KINETIC_NETRC')"

    def test_calls(self):
        for name, call in {"function": function(), "command": command("sh", "-c", "echo ${KINETIC_NETRC-none}"), "script": script()}.items():
            with self.subTest(name):
                self.setUp()
                ran = self.run_call(call, {"train.py": self.SHOW + "\nprint(f() or 'none')"}, env={"KINETIC_NETRC": "secret"})
                self.assertEqual((ran.code, ran.stdout), (0, "none\n"), ran.err)
                self.assertNotIn("secret", json.dumps(ran.result))

    def test_map(self):
        self.environment["KINETIC_NETRC"] = "secret"
        self.chunk(self.SHOW, [1])
        self.assertEqual(self.values(1), [None])


class CredentialsOfHosts(GroupCase):
    HOSTS = 2

    def test_calls(self):
        source = "import os\ndef f(): print(os.environ.get('KINETIC_NETRC'))"
        self.parked(*self.hosts(function(), {"train.py": source}, env={"KINETIC_NETRC": "secret"}))
        self.assertEqual([self.lines(0), self.lines(1)], [["None"]] * 2)


if __name__ == "__main__":
    unittest.main()
