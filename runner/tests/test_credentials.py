"""As whom a bucket is asked: tokens of the metadata server, or for a credentials file as jobs outside of GKE have one."""

import base64
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from bucket import Handler
from fixture import RUNNER  # noqa: F401  which makes the package known
from kinetic_runner.errors import RunnerError, Unreachable
from kinetic_runner.store import account, gcs, keyfile
from test_gcs import StoreCase

HOUR = 3600.0

# Made for these tests by openssl genpkey, with as few bits as the runner takes.
KEY = """-----BEGIN PRIVATE KEY-----
MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMN0d/ZwVg78ji7b
4OQUCFQDWeF5br9iJzT8ttDBguB4ZnFDUbxGLoudlQseacyXecYCR6gLEuk2ckB9
+4jRlxBalu1AB0lpb4gTRTJ09NadXLYgHZB78WDOD9+MCrZvhpGbQbaYATu+EOPZ
mPeo32BztM4rzTbSixf1RSQuaIgrAgMBAAECgYEAo5/NDbHdWY50OSY5jrZ2gl6L
0AYogG9bAzDMmtZlCiXBHPCObF8UeCzjqPs89tmYR/uAoV0j57h8zSCqgk9zdfa6
2mDvaiqRykDgiEsukn2gFPvNR2wyrOVWJgq10HEBG+b4YDHtUA7MmUgelsmcQCyU
VeR7lFgH3OUxoovsDAECQQDleP3gL/ug1nbXcTigViJt4OhSllIV8++56OBH6dA7
GKDO2a7X1Kd3YQAOjyqdlLyYWANuDvTyO9/RoHWx65NhAkEA2gzCOfGuRNi6Ptay
B7ppntw/v8fhx3IDl/ukja9xVZHwnIfzPxptnyvuvug10yKT/QMK1Kf337raKM0v
NPkTCwJAaDH+JRPkj+2R3NWePr+dtoLPOuDiuPEgwyvI2x6B3LOcIRCa4Ym/2OcE
nZfIY/EriYk9VXYZJvyk7oyLpJQxQQJAAgQoL5z6fYx7fGVD1Cp3G47xz/YrMkrt
mZQsG1tJ8v6cePYQ276E0Pn5BS7kgIVLVQWYLgs3kYwKxGHRU+4RrQJAR/luEJAt
5dIVgbHvGl0f9Xn6O/wcGV/JrQ1l38bx8Fn/YkJ0/uxuEyDjeGqnubqZFBpHfGQW
ayIKt3bbS5NmdQ==
-----END PRIVATE KEY-----
"""
# printf kinetic | openssl dgst -sha256 -sign KEY -hex
SIGNATURE = (
    "aa4190059b58180ce3f39ce645dc7525ab333ab9218dbf114e6517f5d9aaafca7c0144364f7208c02bcaae23e34553e2"
    "2f20891aa58e97df5ce49c1dc05a297e4bf472530fc5b8d29d556b10ad807f31cf9cb3b3228e4f2cfac9da45b7ab2cca"
    "eb085f888421411a0065f88853eb442635aaa3ea1b500a364894e4415c4ace7e"
)
ELLIPTIC_KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjhBO7/wSDp8dz/JK
N3y2sJc02rhTUT5MbgQ9qYqoMuihRANCAAS27XiXoD32/yAqS9ClcJHC2IYOgckK
JkT+WTpWRAz+uBT/NSD6NIczfYJn8/uxSmBh6Tka+ezpxJ1BOONE54TN
-----END PRIVATE KEY-----
"""


def pem(body):
    """A key of these bytes."""
    return f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(body).decode()}\n-----END PRIVATE KEY-----\n"


class Signatures(unittest.TestCase):
    def test_fixed_vector(self):
        self.assertEqual(keyfile.rsa_sign(b"kinetic", *keyfile.rsa_key(KEY)).hex(), SIGNATURE)

    def test_same_as_of_openssl(self):
        for bits in (1024, 2048, 2056, 3072):
            with self.subTest(bits), tempfile.NamedTemporaryFile() as file:
                make = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-out", file.name]
                subprocess.run(make, check=True, capture_output=True)
                key = keyfile.rsa_key(file.read().decode())
                for data in (b"", os.urandom(bits)):
                    sign = ["openssl", "dgst", "-sha256", "-sign", file.name]
                    want = subprocess.run(sign, input=data, check=True, capture_output=True).stdout
                    self.assertEqual(keyfile.rsa_sign(data, *key), want)

    def test_token_is_signed_as_it_says(self):
        token = keyfile.signed({"alg": "RS256"}, {"iss": "ä", "iat": 1}, keyfile.rsa_key(KEY))
        text, _, signature = token.rpartition(".")
        parts = [json.loads(base64.urlsafe_b64decode(part + "==")) for part in text.split(".")]
        self.assertEqual(parts, [{"alg": "RS256"}, {"iss": "ä", "iat": 1}])
        self.assertEqual(base64.urlsafe_b64decode(signature + "=="), keyfile.rsa_sign(text.encode(), *keyfile.rsa_key(KEY)))
        self.assertNotIn("=", token)

    def test_what_is_no_key(self):
        body = base64.b64decode("".join(KEY.splitlines()[1:-1]))
        cases = {
            "empty": "", "other text": "no key", "elliptic": ELLIPTIC_KEY,
            "another algorithm": pem(body.replace(keyfile.RSA_OID, keyfile.RSA_OID[:-1] + b"\x0a")),
            "PKCS#1": KEY.replace("PRIVATE KEY", "RSA PRIVATE KEY"), "no base64": KEY.replace("MIICdgIB", "MIICdgI"),
        }
        for size in range(len(body)):
            cases[f"{size} bytes of it"] = pem(body[:size])
        self.assertEqual(keyfile.rsa_key(pem(body)), keyfile.rsa_key(KEY))
        for name, text in cases.items():
            with self.subTest(name), self.assertRaises((ValueError, IndexError)):
                keyfile.rsa_key(text)


class OfMetadataServer(StoreCase):
    """Without an emulator and without a credentials file."""

    def setUp(self):
        super().setUp()
        self.settings = {"metadata_host": self.bucket.host}
        self.change(gcs, "GCS_ENDPOINT", f"http://{self.bucket.host}")
        self.bucket.tokens = {"token-1", "token-2"}
        self.store = self.open_store()

    def test_token_is_kept_until_it_expires(self):
        for seconds, want in ((3600, 1), (account.TOKEN_MARGIN, 2)):
            self.bucket.issued, self.bucket.token_seconds = 0, seconds
            self.store = self.open_store()
            self.store.write("a", lambda: [b"1"])
            self.read("a")
            self.assertEqual((self.bucket.issued, self.bucket.refused), (want, 0))

    def test_refused_token_is_renewed_once(self):
        self.bucket.tokens = {"token-2"}
        self.put()
        self.assertEqual((self.bucket.issued, self.bucket.refused, self.read("a")), (2, 1, b"data"))
        self.bucket.tokens = set()
        with self.assertRaisesRegex(RunnerError, "401: Invalid Credentials"):
            self.put("b")
        self.assertEqual((self.bucket.issued, self.bucket.refused), (3, 3))

    def test_refusals_name_account_permission_and_bucket(self):
        def open_a():
            self.store.open("a")

        cases = {
            "storage.objects.get": open_a,
            "storage.objects.create": self.put,
            "storage.objects.create and storage.objects.delete": lambda: self.store.write("a", lambda: [b""]),
        }
        for permission, action in cases.items():
            with self.subTest(permission):
                self.bucket.fail(403, pattern="storage/v1")
                want = f"trainer@project.iam.gserviceaccount.com needs the permission {permission} on the bucket bucket .403: fault.: grant it roles/storage.objectUser"
                with self.assertRaisesRegex(RunnerError, want):
                    action()

    def test_bucket_that_does_not_exist(self):
        store = self.open_store("gs://nobucket")
        for action in (lambda: store.open("a"), lambda: store.create("a", lambda: [b""])):
            with self.assertRaisesRegex(RunnerError, "there is no bucket nobucket that trainer@.*gcloud storage buckets create gs://nobucket, "):
                action()

    def test_workload_identity_without_an_account_of_google(self):
        self.bucket.fail(lambda handler: handler.answer(200, b"project.svc.id.goog\n"), pattern="email")
        self.bucket.fail(403, pattern="storage/v1")
        with self.assertRaisesRegex(RunnerError, r"the pod's Kubernetes service account \(in project.svc.id.goog\) needs"):
            self.put()

    def test_account_without_a_name(self):
        self.bucket.fail(500, times=math.inf, pattern="email")
        self.bucket.fail(403, pattern="storage/v1")
        with self.assertRaisesRegex(RunnerError, "the pod's service account needs"):
            self.put()

    def test_metadata_server_that_starts(self):
        for fault in (503, 500, Handler.reset):
            self.bucket.fail(fault, pattern="computeMetadata")
        self.put()

    def test_metadata_server_that_refuses_or_raves(self):
        self.bucket.fail(404, pattern="token")
        with self.assertRaisesRegex(RunnerError, "metadata server .* answered 404: .*service account"):
            self.put()
        self.bucket.fail(lambda handler: handler.answer(200, b"<html>"), pattern="token")
        with self.assertRaisesRegex(RunnerError, "answered with 6 bytes that are not a token"):
            self.put()

    def test_no_metadata_server(self):
        self.change(gcs, "RETRY_SECONDS", 0.01)
        with self.assertRaisesRegex(Unreachable, r"cannot get a token from the metadata server, which only pods on GKE have, .*--store-credentials\): 127.0.0.1:1"):
            self.open_store(metadata_host="127.0.0.1:1").open("a")

    def test_server_of_gke_is_the_default(self):
        self.assertEqual(account.open_account("", "")._source.title, "the metadata server metadata.google.internal")

    def test_variables_of_the_image_are_ignored(self):
        nowhere = "127.0.0.1:1"
        self.environ({"STORAGE_EMULATOR_HOST": nowhere, "GCE_METADATA_HOST": nowhere, "GOOGLE_APPLICATION_CREDENTIALS": "/no/such/file"})
        self.open_store().create("a", lambda: [b"data"])
        self.assertEqual((self.read("a"), self.bucket.refused, self.bucket.grants), (b"data", 0, []))


class FileCase(StoreCase):
    """A store that is asked as the account of a credentials file."""

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.path = os.path.join(folder, "key.json")
        self.settings = {"credentials": self.path, "metadata_host": "127.0.0.1:1"}
        self.change(gcs, "GCS_ENDPOINT", f"http://{self.bucket.host}")
        self.bucket.tokens = {"token-1", "token-2"}
        self.use(self.service_account())
        self.store = self.open_store()

    def service_account(self, **fields):
        uri = f"http://{self.bucket.host}/token"
        return dict({
            "type": "service_account", "client_email": "trainer@project.iam.gserviceaccount.com",
            "private_key": KEY, "private_key_id": "key-1", "token_uri": uri,
        }, **fields)

    def user(self, **fields):
        uri = f"http://{self.bucket.host}/token"
        return dict({"type": "authorized_user", "client_id": "id", "client_secret": "sec&ret", "refresh_token": "1//r", "token_uri": uri}, **fields)

    def use(self, document):
        """Makes this the credentials file."""
        with open(self.path, "w") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))

    def claims(self):
        assertion = self.bucket.grants[-1]["assertion"]
        return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in assertion.split(".")[:2]]


class Grants(FileCase):
    def test_service_account(self):
        self.put()
        self.assertEqual((self.read("a"), self.bucket.issued), (b"data", 1))
        self.assertEqual(self.bucket.grants[0]["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer")
        header, claims = self.claims()
        self.assertEqual(header, {"alg": "RS256", "typ": "JWT", "kid": "key-1"})
        self.assertEqual(claims["exp"] - claims["iat"], HOUR)
        del claims["exp"], claims["iat"]
        self.assertEqual(claims, {
            "iss": "trainer@project.iam.gserviceaccount.com", "aud": f"http://{self.bucket.host}/token",
            "scope": "https://www.googleapis.com/auth/devstorage.read_write",
        })

    def test_user(self):
        self.use(self.user())
        self.store = self.open_store()
        self.put()
        want = {"grant_type": "refresh_token", "client_id": "id", "client_secret": "sec&ret", "refresh_token": "1//r"}
        self.assertEqual((self.bucket.grants, self.read("a")), ([want], b"data"))

    def test_token_is_renewed_before_it_ends(self):
        self.bucket.token_seconds = account.TOKEN_MARGIN
        self.put()
        self.read("a")
        self.assertEqual((self.bucket.issued, self.bucket.refused), (2, 0))

    def test_emulator_needs_no_account(self):
        self.bucket.tokens = None
        self.use("no JSON")
        self.open_store(emulator=self.bucket.host, **self.settings).create("a", lambda: [b"1"])
        self.assertEqual(self.bucket.issued, 0)

    def test_server_of_google_is_the_default(self):
        fields = self.service_account()
        del fields["token_uri"]
        self.use(fields)
        self.assertEqual(keyfile.KeyFile(self.path).title, "oauth2.googleapis.com")

    def test_refusals_name_the_account(self):
        self.bucket.fail(403, pattern="storage/v1")
        with self.assertRaisesRegex(RunnerError, "trainer@project.iam.gserviceaccount.com needs the permission storage.objects.create on the bucket"):
            self.put()

    def test_passing_faults_of_the_token_server(self):
        for fault in (503, 429, Handler.reset, Handler.cut, Handler.lose_answer):
            self.bucket.fail(fault, times=2, pattern="POST /token")
        self.bucket.tokens = {"token-5"}  # four answers are lost
        self.put()
        self.assertEqual(self.read("a"), b"data")

    def test_token_server_that_stays_away(self):
        self.change(gcs, "RETRY_SECONDS", 0.01)
        self.bucket.fail(503, times=math.inf, pattern="POST /token")
        with self.assertRaisesRegex(Unreachable, r"127.0.0.1:\d+ answered 503"):
            self.open_store().open("a")


class Clocks(FileCase):
    def test_signature_counts_by_the_clock_of_the_server(self):
        for skew in (-5 * HOUR, 5 * HOUR):
            with self.subTest(skew):
                self.setUp()
                self.bucket.skew = skew
                self.put()
                _, claims = self.claims()
                self.assertLess(abs(claims["iat"] - (time.time() + skew)), 600)
                self.assertEqual(len(self.bucket.grants), 2)
                self.store.write("b", lambda: [b"2"])
                self.assertEqual(len(self.bucket.grants), 2)

    def test_refusal_with_the_right_time_is_not_repeated(self):
        self.bucket.fail(400, times=math.inf, pattern="POST /token")
        with self.assertRaisesRegex(RunnerError, "cannot get a token for trainer@"):
            self.put()
        self.assertEqual(len(self.bucket.requests), 1)


class Mistakes(FileCase):
    def test_files(self):
        cases = {
            "no JSON": ("{", "cannot read the credentials file .*key.json: .*--store-credentials"),
            "no object": ("[1]", "has the type None, expected service_account or authorized_user"),
            "another type": ({"type": "external_account"}, "has the type 'external_account', expected service_account or authorized_user"),
            "strange type": ({"type": ["service_account"]}, "has the type .'service_account'., expected"),
            "no key": ({"type": "service_account", "client_email": "a"}, "private_key is missing from the credentials file .*: put the whole file"),
            "no account": ({"type": "service_account", "private_key": KEY + "\n"}, "client_email is missing from the credentials file"),
            "no secret": (self.user(client_secret=None), "client_secret is missing from the credentials file"),
            "strange server": (self.user(token_uri=7), "token_uri is missing from the credentials file"),
            "elliptic key": (self.service_account(private_key=ELLIPTIC_KEY), "private_key is not an RSA key"),
        }
        for name, (document, want) in cases.items():
            with self.subTest(name):
                self.use(document)
                with self.assertRaisesRegex(RunnerError, want) as caught:
                    self.open_store()
                self.assertNotIn("MIG", str(caught.exception))

    def test_no_file(self):
        os.unlink(self.path)
        with self.assertRaisesRegex(RunnerError, "cannot read the credentials file .*No such file"):
            self.open_store()

    def test_secrets_are_not_shown(self):
        echo = re.compile("1//r|sec.*ret|MII|eyJ|token-1")

        def refuse(handler):
            sent = handler.body().decode()
            handler.answer(401, json.dumps({"error": "invalid_client", "error_description": "Unauthorized", "sent": sent}).encode())

        def rave(handler):
            handler.body()
            handler.answer(200, b'{"access_token":"token-1"}')

        faults = {refuse: "answered 401: invalid_client: Unauthorized: put a new key", rave: "answered with 26 bytes that are not a token"}
        for document in (self.user(), self.service_account()):
            self.use(document)
            for fault, want in faults.items():
                self.store = self.open_store()
                self.bucket.fail(fault, pattern="POST /token")
                with self.assertRaisesRegex(RunnerError, want) as caught:
                    self.put()
                self.assertNotRegex(str(caught.exception), echo)


if __name__ == "__main__":
    unittest.main()
