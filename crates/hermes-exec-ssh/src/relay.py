# The far end of a connection, for hosts without perl: the same as relay.pl, which has the words.
import os, sys, time, errno, fcntl, select, signal, struct, subprocess

FULL = 256 * 1024
CHUNK = 65536
SILENCE = 900
GRACE = 1
GIVE_UP = 3

received, told = bytearray(), bytearray()
out = bytearray()
commands, keepers = {}, {}
lost = False
clock = time.monotonic
heard = clock()
turn = 0
is_linux = sys.platform.startswith('linux')

try:
    import ctypes
    library = ctypes.CDLL(None)
    def prctl(option, value):
        return is_linux and library.prctl(option, value, 0, 0, 0) == 0
except Exception:
    def prctl(option, value):
        return False
has_keepers = prctl(36, 1)

try:
    import termios
    has_terminals = hasattr(termios, 'TIOCSCTTY') and hasattr(os, 'openpty')
except ImportError:
    has_terminals = False

def set_size(terminal, rows, cols):
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, cols, 0, 0))
    except OSError:
        pass

# ---- the machine ----

def find(name):
    folders = os.environ.get('PATH', '').split(':')
    for folder in folders + ['/bin', '/usr/bin', '/usr/local/bin', '/usr/pkg/bin']:
        path = folder + '/' + name
        if folder.startswith('/') and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ''

bash, sh, cat = find('bash'), find('sh') or '/bin/sh', find('cat')

def private_folder():
    for parent in (os.environ.get('TMPDIR'), '/tmp', '/var/tmp', os.environ.get('HOME')):
        if parent and parent.startswith('/') and os.access(parent, os.W_OK):
            path = parent + '/hermes-' + ''.join('%02x' % byte for byte in os.urandom(8))
            try:
                os.mkdir(path, 0o700)
                return parent, path
            except OSError:
                pass
    sys.exit('no folder for temporary files can be written to')

temp, folder = private_folder()

def unlink(path):
    try:
        os.unlink(path)
    except OSError:
        pass

def close(*fds):
    for fd in set(fds):
        if fd is not None:
            try:
                os.close(fd)
            except OSError:
                pass

# ---- who is whose child ----

# One look at all processes: number => (parent, group, has ended), and the children of each.
class Look:
    def __init__(self):
        self.all = {}
        if is_linux:
            for pid in filter(str.isdigit, os.listdir('/proc')):
                try:
                    with open('/proc/%s/stat' % pid, 'rb') as stat:
                        state, parent, group = stat.read().rpartition(b') ')[2].split()[:3]
                    self.all[int(pid)] = (int(parent), int(group), state in b'ZX')
                except (OSError, ValueError):
                    pass
        else:
            listing = 'ps -A -o pid= -o ppid= -o pgid= -o state='.split()
            for line in subprocess.run(listing, stdout=subprocess.PIPE).stdout.splitlines():
                pid, parent, group, state = line.split()[:4]
                self.all[int(pid)] = (int(parent), int(group), state.startswith(b'Z'))
        self.children = {}
        for pid, (parent, _, _) in self.all.items():
            self.children.setdefault(parent, []).append(pid)
        self.by_mark = None

    # Whom descent doesn't tell of: processes by the mark of a command that they carry.
    def marked(self, mark):
        if self.by_mark is None:
            self.by_mark = {}
            ours = ('HERMES_COMMAND_ID=' + folder).encode()
            for pid in self.all if is_linux else ():
                try:
                    with open('/proc/%d/environ' % pid, 'rb') as environ:
                        for entry in environ.read().split(b'\0'):
                            if entry.startswith(ours):
                                self.by_mark.setdefault(entry, []).append(pid)
                except OSError:
                    pass
        return self.by_mark.get(mark, [])

# All that runs below some processes, and whom else they are known by.
def below(look, roots, group=-1, mark=None):
    found = set()
    left = [pid for root in roots for pid in look.children.get(root, ())]
    if mark:
        left += look.marked(mark) + [pid for pid, facts in look.all.items() if facts[1] == group]
    while left:
        pid = left.pop()
        if pid not in roots and pid not in found and pid != os.getpid():
            found.add(pid)
            left += look.children.get(pid, ())
    return [pid for pid in found if not look.all[pid][2]]

def send_signal(number, pids):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass

# Where the system lists the children of a process, there is no need to look at all processes. The
# list may lack some while others end, so whoever needs all of them asks again. Some have ended.
has_lists = has_keepers and os.path.exists('/proc/self/task/%d/children' % os.getpid())

def children(pid):
    found = []
    try:
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/children' % (pid, task)) as listed:
                found += map(int, listed.read().split())
    except OSError:
        pass
    return found

# The same as `below`, with the caller's way to look, which is gone only if it is needed.
def family(look, roots, group=-1, mark=None):
    if not has_lists:
        return below(look(), roots, group, mark)
    found = [pid for root in roots for pid in children(root) if pid not in roots]
    for pid in found:
        found += children(pid)
    return found

def reap():
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0

# Kills all that is below this process.
def kill_below(group=-1, mark=None):
    for _ in range(50):
        while reap():
            pass
        running = family(Look, [os.getpid()], group, mark)
        if not running:
            return
        send_signal(signal.SIGSTOP, running)
        send_signal(signal.SIGKILL, running)
        time.sleep(0.02)

# ---- frames ----

def send(kind, number, body=b''):
    if not lost:
        out.extend(struct.pack('>cII', kind, number, len(body)) + body)

def texts(body):
    found, at = [], 0
    while at < len(body):
        length, = struct.unpack_from('>I', body, at)
        found.append(body[at + 4:at + 4 + length])
        at += 4 + length
    return found

# ---- starting ----

class Command:
    def __init__(self, number, window):
        self.number = number
        self.file = '%s/%d' % (folder, number)
        self.credit = {'o': window, 'e': window}
        # What is read and written by name: o, e, i.
        self.ends = {}
        self.input = bytearray()
        self.drop = set()
        self.is_last = self.is_told = self.is_lost = self.is_released = False
        self.exit = self.rest = self.kill = self.keeper = self.shell = None

# What isn't known by descent is known by this.
def mark_of(number):
    return None if has_keepers else ('HERMES_COMMAND_ID=%s/%d' % (folder, number)).encode()

tell_read, tell = os.pipe()
wake_read, wake = os.pipe()

def start(number, body):
    how, rows, cols, window, script, *env = texts(body)
    how = how.decode()
    c = Command(number, int(window))
    theirs, checks = {}, []
    try:
        if not bash and 'p' not in how:
            raise OSError('there is no bash on this host')
        file = os.open(c.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, 'wb') as writer:
            writer.write(script)
        if 't' in how:
            c.ends['o'], terminal = os.openpty()
            theirs = {0: terminal, 1: terminal, 2: terminal}
            c.ends['i'] = os.dup(c.ends['o'])
            set_size(c.ends['o'], int(rows), int(cols))
        else:
            c.ends['o'], theirs[1] = os.pipe()
            theirs[2] = theirs[1]
            if 'e' in how:
                c.ends['e'], theirs[2] = os.pipe()
            if 'i' in how:
                theirs[0], c.ends['i'] = os.pipe()
            else:
                theirs[0] = os.open('/dev/null', os.O_RDONLY)
        for fd in c.ends.values():
            os.set_blocking(fd, False)
        checks = list(os.pipe())
        c.keeper = os.fork()
    except OSError as error:
        close(*c.ends.values(), *theirs.values(), *checks)
        unlink(c.file)
        return send(b'f', number, str(error).encode())
    if c.keeper == 0:
        try:
            keep(c, how, env, theirs, *checks)
        finally:
            os._exit(1)
    close(*theirs.values(), *checks)
    commands[number] = c
    keepers[c.keeper] = number

# The life of a keeper.
def keep(c, how, env, theirs, failed, fail):
    relay = os.getppid()
    mark = mark_of(c.number)
    shell = 0
    for number in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    def end(*_):
        kill_below(shell, mark)
        unlink(c.file)
        try:
            os.rmdir(folder)
        finally:
            os._exit(1)
    signal.signal(signal.SIGTERM, end)
    prctl(36, 1)
    prctl(1, signal.SIGTERM)
    if os.getppid() != relay:
        end()
    # Nothing of the others, or they would not notice each other's end.
    for other in [c] + list(commands.values()):
        close(*other.ends.values())
    signal.set_wakeup_fd(-1)
    close(wake, wake_read, tell_read)
    null = os.open('/dev/null', os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    shell = os.fork()
    if shell == 0:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            run(how, env, mark, c.file, theirs)
        except OSError as error:
            os.write(fail, b'%d' % error.errno)
        finally:
            os._exit(127)
    os.dup2(null, 2)
    close(fail, *theirs.values())
    reason = os.read(failed, 32)
    said = b'f %s' % reason if reason else b'p %d' % shell
    os.write(tell, b'%d %s\n' % (c.number, said))
    while True:
        try:
            pid, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return
        if pid == shell and not reason:
            code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            os.write(tell, b'%d x %d\n' % (c.number, code))

# Becomes the shell.
def run(how, env, mark, file, theirs):
    os.setsid()
    if 't' in how:
        fcntl.ioctl(theirs[0], termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(theirs[fd], fd)
    # Python ignores some that others must not.
    for name in ('SIGPIPE', 'SIGXFSZ', 'SIGXFZ'):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    variables = {} if 'b' in how else dict(os.environb)
    for name in (b'BASH_ENV', b'ENV'):
        variables.pop(name, None)
    if 't' in how:
        variables[b'TERM'] = b'xterm-256color'
    for entry in env + ([mark] if mark else []):
        name, _, value = entry.partition(b'=')
        variables[name] = value
    quoted = "'" + file.replace("'", "'\\''") + "'"
    if 'p' in how:
        argv = ['sh', '-c', 'eval "$(\'%s\' %s)\n"' % (cat, quoted)]
    else:
        options = ['-l'] if 'l' in how else ['--noprofile', '--norc']
        argv = ['bash'] + options + ['-c', 'eval "$(<%s)\n"' % quoted]
    os.execve(sh if 'p' in how else bash, argv, variables)

# ---- ending ----

def terminate(c, grace):
    deadline = clock() + grace
    # An impatient one overtakes a patient one.
    if c.kill is None:
        c.kill = {'told': set(), 'deadline': deadline, 'killed': None}
    c.kill['deadline'] = min(deadline, c.kill['deadline'])
    hurry()

# When the last step had ended, how long it took, when the next one is due.
last_look = took = next_look = 0
pause = 0.01

# The next step is due, but no more than half of the time goes into steps.
def hurry():
    global next_look, pause
    next_look = min(next_look, last_look + took)
    pause = 0.01

# One step of ending everything that is to end. Returns seconds until the next.
def end_some():
    global last_look, took, next_look, pause
    dying = [c for c in commands.values() if c.kill]
    begin = clock()
    if not dying:
        pause = 0.01
        return 60
    if begin < next_look:
        return next_look - begin
    looks = []
    def look():
        if not looks:
            looks.append(Look())
        return looks[0]
    for c in dying:
        kill = c.kill
        roots = [c.keeper] if c.keeper else []
        running = family(look, roots, c.shell or -1, mark_of(c.number))
        # A keeper ends when nothing is left below it. Without one it must be seen.
        is_settled = not running and (c.exit is not None or c.is_lost)
        if has_keepers:
            is_settled = not c.keeper
        if is_settled or kill['killed'] and begin > kill['killed'] + GIVE_UP:
            c.kill = None
            send(b't', c.number)
            forget(c)
        elif begin >= kill['deadline']:
            # Stopped first, so that none makes another meanwhile.
            send_signal(signal.SIGSTOP, running)
            send_signal(signal.SIGKILL, running)
            kill['killed'] = kill['killed'] or begin
        else:
            new = [pid for pid in running if pid not in kill['told']]
            kill['told'].update(new)
            # The shell's group at once: a shell that outlives its children would talk about it.
            send_signal(signal.SIGTERM, [-c.shell] if c.shell in new else [])
            send_signal(signal.SIGTERM, new)
            send_signal(signal.SIGCONT, new)
    pause = min(pause * 1.3, 0.1)
    last_look = clock()
    took = last_look - begin
    next_look = last_look + max(pause, 4 * took)
    return next_look - clock() if any(c.kill for c in commands.values()) else 0

def lose(*_):
    global lost
    if not lost:
        lost = True
        out.clear()
        for c in commands.values():
            terminate(c, GRACE)

def group_exists(group):
    try:
        os.killpg(group, 0)
        return True
    except OSError:
        return False

def forget(c):
    if not c.is_told or 'o' in c.ends or 'e' in c.ends or c.kill or c.keeper:
        return
    # Without a keeper's help the group may still be needed to end what is left of it.
    if not has_keepers and c.shell and group_exists(c.shell):
        return
    if commands.pop(c.number, None):
        close(*c.ends.values())
        send(b'g', c.number)

# ---- what comes ----

def handle(kind, number, body):
    if kind == b'S':
        return start(number, body)
    if kind == b'P':
        return send(b'P', 0)
    if kind == b'Q':
        return lose()
    c = commands.get(number)
    if c is None:
        return
    if kind == b'I':
        if 'i' in c.ends:
            c.input += body
            feed(c)
        else:
            send(b'c', number, struct.pack('>I', len(body)))
    elif kind == b'E':
        c.is_last = True
        feed(c)
    elif kind == b'C':
        stream, count = struct.unpack('>cI', body)
        c.credit[stream.decode()] += count
    elif kind == b'X':
        stream = body.decode()
        if c.is_released:
            c.drop.add(stream)
        elif stream in c.ends:
            end_stream(c, stream)
    elif kind == b'R':
        c.is_released = True
    elif kind == b'T':
        terminate(c, struct.unpack('>I', body)[0] / 1000)
    elif kind == b'Z' and 'o' in c.ends:
        set_size(c.ends['o'], *struct.unpack('>HH', body))

# Gives a command what it has been sent.
def feed(c):
    if 'i' in c.ends and c.input:
        try:
            count = os.write(c.ends['i'], c.input[:CHUNK])
            del c.input[:count]
            send(b'c', c.number, struct.pack('>I', count))
        except BlockingIOError:
            pass
        except OSError:
            close_input(c)
    if c.is_last and not c.input:
        close_input(c)

# A command that reads no more gets no more; what comes is answered as if it were read.
def close_input(c):
    if 'i' in c.ends:
        close(c.ends.pop('i'))
        send(b'b', c.number)
        if c.input:
            send(b'c', c.number, struct.pack('>I', len(c.input)))
            c.input.clear()

def end_stream(c, stream):
    close(c.ends.pop(stream))
    send(b'O' if stream == 'o' else b'L', c.number)
    forget(c)

def read_stream(c, stream):
    is_dropped = stream in c.drop
    try:
        chunk = os.read(c.ends[stream], CHUNK if is_dropped else min(CHUNK, c.credit[stream]))
    except BlockingIOError:
        return
    except OSError:
        # A terminal whose other side is closed by all.
        chunk = b''
    if not chunk:
        return end_stream(c, stream)
    if c.rest is not None:
        c.rest -= len(chunk)
    if not is_dropped:
        c.credit[stream] -= len(chunk)
        send(stream.encode(), c.number, chunk)

# What keepers say.
def listen_to_keepers():
    told.extend(os.read(tell_read, CHUNK))
    while b'\n' in told:
        line, _, rest = bytes(told).partition(b'\n')
        told[:] = rest
        number, what, value = line.split()
        number, value = int(number), int(value)
        c = commands.get(number)
        if c is None:
            continue
        if what == b'p':
            c.shell = value
            send(b's', number, struct.pack('>I', value))
        elif what == b'f':
            send(b'F', number, b"the shell can't be started: " + os.strerror(value).encode())
            unlink(c.file)
            keepers.pop(c.keeper, None)
            close(*c.ends.values())
            del commands[number]
        else:
            c.exit = value
            # What it wrote itself is in its pipes, which hold this much.
            c.rest = 2 * CHUNK
            # It comes before the end, though the window be full.
            for stream in c.credit:
                c.credit[stream] += c.rest
            unlink(c.file)

# Ends those whose keeper was killed: they have become children of this process.
def kill_orphans():
    look = None if has_lists else Look()
    own = look.children.get(os.getpid(), ()) if look else children(os.getpid())
    orphans = [pid for pid in own if pid not in keepers]
    send_signal(signal.SIGKILL, orphans + family(lambda: look, orphans))

def collect():
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid not in keepers:
            continue
        number = keepers.pop(pid)
        # It may have said something before it went.
        if select.select([tell_read], [], [], 0)[0]:
            listen_to_keepers()
        c = commands.get(number)
        if c is None:
            continue
        c.keeper = None
        close_input(c)
        if c.exit is None:
            c.is_lost = c.is_told = True
            unlink(c.file)
            send(b'l', number)
            kill_orphans()
        if c.kill and has_keepers:
            c.kill = None
            send(b't', number)
        forget(c)

# ---- the loop ----

# `select` takes no numbers above 1023; `poll` takes all.
def wait(reads, writes, seconds):
    poll = select.poll()
    masks = {}
    for fds, mask in ((reads, select.POLLIN), (writes, select.POLLOUT)):
        for fd in fds:
            masks[fd] = masks.get(fd, 0) | mask
    for fd, mask in masks.items():
        poll.register(fd, mask)
    events = poll.poll(seconds * 1000)
    ended = select.POLLHUP | select.POLLERR | select.POLLNVAL
    readable = {fd for fd, event in events if event & (select.POLLIN | ended)}
    writable = {fd for fd, event in events if event & (select.POLLOUT | ended)}
    return readable & set(reads), writable & set(writes)

for fd in (0, 1, wake, wake_read):
    os.set_blocking(fd, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, lambda *_: None)
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lose)

facts = (os.path.expanduser('~'), temp, bash, '1' if has_terminals else '0')
send(b'H', os.getpid(), b''.join(struct.pack('>I', len(os.fsencode(fact))) + os.fsencode(fact) for fact in facts))

while not lost or any(c.kill for c in commands.values()):
    seconds = end_some()
    if lost and not any(c.kill for c in commands.values()):
        break
    reads, writes, streams = [wake_read, tell_read], [], []
    if not lost:
        reads.append(0)
        if out:
            writes.append(1)
    is_full = len(out) >= FULL
    for c in commands.values():
        if 'i' in c.ends and c.input:
            writes.append(c.ends['i'])
        for stream in ('o', 'e'):
            if stream in c.ends and (stream in c.drop or not is_full and c.credit[stream] > 0):
                reads.append(c.ends[stream])
                streams.append((c, stream))
        if c.exit is not None and not c.is_told and not is_full:
            seconds = 0
    readable, writable = wait(reads, writes, seconds)
    ready = [(c, stream) for c, stream in streams if c.ends[stream] in readable]
    to_feed = [c for c in commands.values() if c.ends.get('i') in writable]
    if 0 in readable:
        try:
            chunk = os.read(0, 4 * CHUNK)
            heard = clock()
            received += chunk
            if not chunk:
                lose()
        except BlockingIOError:
            pass
        except OSError:
            lose()
    # Each begins with another one, so that the first doesn't take all the room.
    turn += 1
    for at in range(len(ready)):
        c, stream = ready[(at + turn) % len(ready)]
        if stream in c.ends and (len(out) < FULL or stream in c.drop):
            read_stream(c, stream)
    for c in to_feed:
        feed(c)
    is_ready = {c.number for c, _ in ready}
    for c in list(commands.values()):
        # The end is told after what was written before it, unless nobody takes that.
        if c.exit is None or c.is_told or is_full or c.number in is_ready and c.rest > 0:
            continue
        c.is_told = True
        send(b'x', c.number, struct.pack('>I', c.exit))
        forget(c)
    at = 0
    while len(received) >= at + 9:
        kind, number, length = struct.unpack_from('>cII', received, at)
        if len(received) < at + 9 + length:
            break
        handle(kind, number, bytes(received[at + 9:at + 9 + length]))
        at += 9 + length
    del received[:at]
    if clock() - heard > SILENCE:
        lose()
    if tell_read in readable:
        listen_to_keepers()
    if wake_read in readable:
        os.read(wake_read, CHUNK)
        collect()
    if out and not lost:
        try:
            del out[:os.write(1, out[:4 * CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            lose()

# Whoever lost its keeper is a child of this process.
if has_keepers:
    kill_below()
for c in commands.values():
    unlink(c.file)
try:
    os.rmdir(folder)
except OSError:
    pass
sys.exit(0)
