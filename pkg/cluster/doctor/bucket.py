"""Write, read and delete an object of a bucket, as a job's pod does.

The arguments are the bucket and the object's name. The outcome is one line of JSON, in the
file for a container's last message and on standard output.
"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT = 20  # seconds for each request
TEXT = b"kubectl kinetic doctor\n"
LAST_MESSAGE = "/dev/termination-log"


def request(method, url, headers, data=None):
    sent = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(sent, timeout=TIMEOUT) as answer:
        return answer.read()


def identity():
    """Return the headers with a token of the metadata server, and whose it is."""
    host = os.environ.get("GCE_METADATA_HOST") or "metadata.google.internal"
    base = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/"
    flavor = {"Metadata-Flavor": "Google"}
    email = request("GET", base + "email", flavor).decode().strip()
    token = json.loads(request("GET", base + "token", flavor))["access_token"]
    return {"Authorization": "Bearer " + token}, email


def reason(error):
    """Return what a server has said."""
    if not isinstance(error, urllib.error.HTTPError):
        return str(getattr(error, "reason", error))
    text = error.read(4096).decode("utf-8", "replace")
    try:
        text = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        pass
    return "%d %s" % (error.code, " ".join(text.split()))


def check(bucket, name):
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "")
    headers, account, step = {}, "", "getting a token of the metadata server"
    try:
        if not emulator:
            headers, account = identity()
        server = emulator or "https://storage.googleapis.com"
        place = "/b/" + urllib.parse.quote(bucket, safe="") + "/o"
        key = urllib.parse.quote(name, safe="")
        step = "writing gs://%s/%s" % (bucket, name)
        request("POST", server + "/upload/storage/v1" + place + "?uploadType=media&name=" + key, headers, TEXT)
        step = "reading gs://%s/%s" % (bucket, name)
        read = request("GET", server + "/storage/v1" + place + "/" + key + "?alt=media", headers)
        if read != TEXT:
            return {"ok": False, "account": account, "step": step, "why": "it has other bytes than were written"}
        step = "deleting gs://%s/%s" % (bucket, name)
        request("DELETE", server + "/storage/v1" + place + "/" + key, headers)
    except (OSError, ValueError, KeyError) as error:
        return {"ok": False, "account": account, "step": step, "why": reason(error)}
    return {"ok": True, "account": account}


def main():
    outcome = json.dumps(check(sys.argv[1], sys.argv[2]))
    print(outcome)
    try:
        with open(LAST_MESSAGE, "w", encoding="utf-8") as file:
            file.write(outcome)
    except OSError:
        pass  # outside of a pod


if __name__ == "__main__":
    main()
