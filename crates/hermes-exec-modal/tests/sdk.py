"""The provider's own client against the server of the tests (fake/).

What passes here makes that server an honest judge of our client. The argument is its address.
"""

import os
import sys

os.environ["MODAL_SERVER_URL"] = sys.argv[1]
os.environ["MODAL_TOKEN_ID"] = "ak-test"
os.environ["MODAL_TOKEN_SECRET"] = "as-test"
os.environ["MODAL_CONFIG_PATH"] = os.devnull

import modal  # noqa: E402 (it reads the environment when it is loaded)


def run(sandbox, script, data=None):
    process = sandbox.exec("bash", "-c", script, text=False)
    if data is not None:
        process.stdin.write(data)
    process.stdin.write_eof()
    process.stdin.drain()
    out, err = process.stdout.read(), process.stderr.read()
    return out, err, process.wait()


app = modal.App.lookup("hermes-agent", create_if_missing=True)
image = modal.Image.from_registry("debian:12")
with modal.enable_output():
    sandbox = modal.Sandbox.create("sleep", "infinity", app=app, image=image, timeout=600)
assert sandbox.object_id == "sb-1", sandbox.object_id
answer = run(sandbox, "echo out; echo err >&2; exit 3")
assert answer == (b"out\n", b"err\n", 3), answer
data = bytes(range(256)) * 2000
answer = run(sandbox, "cat", data)
assert answer == (data, b"", 0), (len(answer[0]), answer[1:])
answer = run(sandbox, "kill -9 $$")
assert answer == (b"", b"", 137), answer
snapshot = sandbox.snapshot_filesystem()
assert snapshot.object_id == "im-snapshot-1", snapshot.object_id
sandbox.terminate()
print(f"modal {modal.__version__}: the server of the tests is honest")
