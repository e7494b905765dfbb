"""A language server that behaves as the first argument says. It finds an error wherever a line
holds the word BAD. The folder it runs in gets its process numbers and what it was told."""
import json
import os
import sys
import time

MODE = sys.argv[1]
OUT = sys.stdout.buffer
LOG = open("log.jsonl", "a", buffering=1)
with open("pids", "a") as pids:
    pids.write(f"{os.getpid()}\n")
texts = {}
versions = {}


def send(message):
    message["jsonrpc"] = "2.0"
    body = json.dumps(message).encode()
    OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    OUT.flush()


def read():
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            sys.exit(0)
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length))


def found(uri):
    items = []
    for number, line in enumerate(texts[uri].split("\n")):
        if "BAD" in line:
            at = len(line[: line.index("BAD")].encode("utf-16-le")) // 2
            start = {"line": number, "character": at}
            end = {"line": number, "character": at + 3}
            where = {"start": start, "end": end}
            items.append({"range": where, "severity": 1, "message": "it is bad", "source": "fake"})
            items.append({"range": where, "severity": 2, "message": "only a warning"})
    return items


def publish(uri):
    params = {"uri": uri, "diagnostics": found(uri)}
    if MODE != "unnamed":
        params["version"] = versions[uri]
    send({"method": "textDocument/publishDiagnostics", "params": params})


def hang():
    while True:
        time.sleep(3600)


def on_start():
    if MODE == "hangs at the start":
        hang()
    if MODE == "ends at the start":
        sys.exit(3)
    if MODE == "rubbish":
        OUT.write(b"Starting the server, please wait...\n")
        OUT.flush()
        hang()
    if MODE == "wrong length":
        OUT.write(b"Content-Length: 5\r\n\r\n{\"jsonrpc\": \"2.0\"}")
        OUT.flush()
        hang()
    if MODE == "huge length":
        OUT.write(b"Content-Length: 99999999999\r\n\r\n{")
        OUT.flush()
        hang()
    if MODE == "huge message":
        body = b'"' + b"x" * (15 * 1024 * 1024) + b'"'
        OUT.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        OUT.flush()
        hang()
    if MODE == "dies within a message":
        OUT.write(b"Content-Length: 500\r\n\r\n{\"jsonrpc\": ")
        OUT.flush()
        sys.exit(0)


def changed(uri):
    if MODE == "dies at a change" and versions[uri] > 1:
        sys.exit(1)
    if MODE == "hangs at a change" and versions[uri] > 1:
        hang()
    if MODE == "floods":
        while True:
            send({"method": "window/logMessage", "params": {"message": "y" * 65536}})
    if MODE == "closes its input":
        os.close(0)
        hang()
    if MODE == "is slow at first" and not os.path.exists("slow"):
        open("slow", "w").close()
        time.sleep(1.2)
    if MODE == "asks a lot":
        # Whoever doesn't answer gets nothing.
        for number, (method, params) in enumerate(
            [
                ("workspace/configuration", {"items": [{"section": "fake.a"}, {"section": "b"}]}),
                ("client/registerCapability", {"registrations": []}),
                ("window/workDoneProgress/create", {"token": "t"}),
                ("workspace/applyEdit", {"edit": {}}),
                ("no/such/method", {}),
            ]
        ):
            send({"id": f"r{number}", "method": method, "params": params})
            while True:
                message = read()
                if message.get("id") == f"r{number}" and "method" not in message:
                    LOG.write(json.dumps(message) + "\n")
                    break
    if MODE == "tells old news first":
        send(
            {
                "method": "textDocument/publishDiagnostics",
                "params": {"uri": uri, "version": versions[uri] - 1, "diagnostics": []},
            }
        )
        time.sleep(0.3)
    if MODE != "pull" and MODE != "says nothing":
        publish(uri)


while True:
    message = read()
    method = message.get("method")
    params = message.get("params") or {}
    if method not in ("textDocument/didOpen", "textDocument/didChange"):
        LOG.write(json.dumps(message) + "\n")
    if method == "initialize":
        on_start()
        capabilities = {"textDocumentSync": 1}
        if MODE == "pull":
            capabilities["diagnosticProvider"] = {"interFileDependencies": True}
        send({"id": message["id"], "result": {"capabilities": capabilities}})
        if MODE == "doesn't read":
            hang()
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        uri = document["uri"]
        versions[uri] = document["version"]
        changes = params.get("contentChanges")
        texts[uri] = changes[0]["text"] if changes else document["text"]
        changed(uri)
    elif method == "textDocument/diagnostic":
        if "AGAIN" in texts[params["textDocument"]["uri"]] and not os.path.exists("again"):
            open("again", "w").close()
            send({"id": message["id"], "error": {"code": -32801, "message": "later"}})
            continue
        result = {"kind": "full", "items": found(params["textDocument"]["uri"])}
        send({"id": message["id"], "result": result})
    elif method == "shutdown":
        if MODE == "never ends":
            # Nor do its helpers.
            import signal

            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if os.fork() == 0:
                with open("pids", "a") as pids:
                    pids.write(f"{os.getpid()}\n")
                hang()
            hang()
        send({"id": message["id"], "result": None})
    elif method == "exit":
        with open("farewell", "w"):
            sys.exit(0)
