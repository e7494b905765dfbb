"""The provider's own client against the server of the tests (fake/).

What passes here makes that server an honest judge of our client. The argument is its address.
"""

import asyncio
import os
import sys
from importlib.metadata import version

url = sys.argv[1]
for name in list(os.environ):
    if name.startswith("DAYTONA_"):
        del os.environ[name]

from daytona import (  # noqa: E402
    CreateSandboxFromImageParams,
    Daytona,
    DaytonaConfig,
    PtySize,
    Resources,
    SessionExecuteRequest,
)

daytona = Daytona(DaytonaConfig(api_key="dtn-test", api_url=url))
made = CreateSandboxFromImageParams(
    name="hermes-sdk",
    image="debian:12",
    labels={"hermes_task_id": "sdk"},
    auto_stop_interval=0,
    resources=Resources(cpu=1, memory=1, disk=3),
)
sandbox = daytona.create(made)
assert sandbox.id == "id-1", sandbox.id
assert daytona.get("hermes-sdk").id == "id-1"
done = sandbox.process.exec("echo out")
assert (done.exit_code, done.result) == (0, "out\n"), done
sandbox.process.create_session("one")
request = SessionExecuteRequest(command="echo out; echo err >&2; read -r x; echo $x; exit 3", run_async=True)
command = sandbox.process.execute_session_command("one", request).cmd_id
sandbox.process.send_session_command_input("one", command, "typed")
out, err = [], []
logs = sandbox.process.get_session_command_logs_async("one", command, out.append, err.append)
asyncio.run(asyncio.wait_for(logs, 30))
assert ("".join(out), "".join(err)) == ("out\ntyped\n", "err\n"), (out, err)
assert sandbox.process.get_session_command("one", command).exit_code == 3
sandbox.process.delete_session("one")
said = []
terminal = sandbox.process.create_pty_session("term", pty_size=PtySize(rows=33, cols=99))
terminal.send_input("stty size; exit 4\n")
ended = terminal.wait(on_data=said.append, timeout=30)
assert ended.exit_code == 4, ended
assert b"33 99" in b"".join(said), said
terminal.disconnect()
sandbox.process.kill_pty_session("term")
terminal = sandbox.process.create_pty_session("sized")
sandbox.process.resize_pty_session("sized", PtySize(rows=11, cols=55))
assert sandbox.process.get_pty_session_info("sized").cols == 55
terminal.send_input("exit 0\n")
assert terminal.wait(timeout=30).exit_code == 0
terminal.kill()
terminal.disconnect()
path = f"/tmp/hermes-sdk-{os.getpid()}"
sandbox.fs.upload_file(b"content", path)
with open(path, "rb") as file:
    assert file.read() == b"content"
os.remove(path)
sandbox.stop()
sandbox.start()
sandbox.delete()
print(f"daytona {version('daytona')}: the server of the tests is honest")
