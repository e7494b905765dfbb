//! The network, and what is like one.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use hermes_confine::{Confinement, Mechanism, Mode, Network, Rules};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

use crate::world::{choose, each, mechanisms, refused, run, works};

/// Bash connects by itself; the way a shell does it is in no package.
fn connect(listener: &TcpListener) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port())
}

/// Connects to a unix socket.
fn unix(path: &str) -> String {
    format!("python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"{path}\")'")
}

#[test]
fn servers_of_this_machine_are_out_of_reach() {
    each(|mechanism, probe, world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let confinement = choose(&world.rules(), probe);
        let network = confinement.report().network;
        let by_kernel = mechanism == Mechanism::Landlock;
        assert_eq!(network, if by_kernel { Network::Partial } else { Network::Blocked });
        for script in [
            connect(&listener),
            format!("setsid -w bash -c '{}'", connect(&listener)),
            format!("(bash -c 'bash -c \"{}\"')", connect(&listener)),
        ] {
            let ended = run(&confinement, world, &script);
            assert_ne!(ended.code, 0, "{script}: {ended:?}");
        }
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "somebody has connected");

        let allowed = choose(&Rules { network: true, ..world.rules() }, probe);
        assert_eq!(allowed.report().network, Network::Open);
        works(&allowed, world, &connect(&listener));
        assert!(listener.accept().is_ok());
    });
}

#[test]
fn ways_beside_the_usual_ones_are_closed() {
    each(|mechanism, probe, world| {
        let confinement = choose(&world.rules(), probe);
        // Raw packets, the host of a virtual machine, Bluetooth, the kernel's ciphers.
        for family in [17, 40, 31, 38] {
            let script =
                format!("python3 -c 'import socket; socket.socket({family}, socket.SOCK_STREAM)'");
            let ended = run(&confinement, world, &script);
            assert!(ended.output.contains("Errno 13"), "{family}: {ended:?}");
        }
        let raw = "python3 -c 'import socket; socket.socket(2, socket.SOCK_DGRAM)'";
        let is_open = run(&confinement, world, raw).code == 0;
        assert_eq!(
            is_open,
            mechanism == Mechanism::Bubblewrap,
            "a network of one's own is no harm"
        );
        let ring = "python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 1, ctypes.create_string_buffer(120)) == -1
assert ctypes.get_errno() == 13, ctypes.get_errno()'";
        works(&confinement, world, ring);
        let typed = "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'";
        assert!(run(&confinement, world, typed).output.contains("Errno 13"));
    });
}

#[test]
fn programs_say_it_and_it_is_explained() {
    each(|mechanism, probe, world| {
        let confinement = choose(&world.rules(), probe);
        for script in [
            "python3 -c 'import urllib.request as r; r.urlopen(\"http://example.com\")'",
            "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80))'",
            "git ls-remote https://example.com/x",
        ] {
            let said = refused(&confinement, world, script);
            assert!(said.contains("the network"), "{script}: {said}");
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!(
            "python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:{port}\")'"
        );
        let ended = run(&confinement, world, &script);
        let said = confinement.explains(&ended.output, ended.code, &world.w());
        // Python doesn't say which server refused.
        assert_eq!(said.is_some(), mechanism == Mechanism::Landlock, "{ended:?}");
    });
}

#[test]
fn a_bubble_has_a_loopback_of_its_own() {
    each(|mechanism, probe, world| {
        if mechanism != Mechanism::Bubblewrap {
            return;
        }
        let script = "python3 -c '
import socket
server = socket.create_server((\"127.0.0.1\", 0))
client = socket.create_connection(server.getsockname())
server.accept()[0].sendall(b\"hello\")
print(client.recv(9))'";
        assert_eq!(works(&choose(&world.rules(), probe), world, script), "b'hello'\n");
    });
}

#[test]
fn daemons_behind_unix_sockets() {
    each(|mechanism, probe, world| {
        let path = world.root.join("other/socket");
        let _daemon = UnixListener::bind(&path).unwrap();
        // Fresh ones are taken for what somebody's program has made for itself.
        let old = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
        let times = Timestamps { last_access: old, last_modification: old };
        utimensat(CWD, &path, &times, AtFlags::empty()).unwrap();
        let confinement = choose(&world.rules(), probe);
        let ended = run(&confinement, world, &unix("../other/socket"));
        if mechanism == Mechanism::Bubblewrap {
            assert_ne!(ended.code, 0, "{ended:?}");
            // One that is gone by the next command is no harm.
            drop(fs::remove_file(&path));
            works(&confinement, world, "true");
        } else {
            // Which the report says.
            assert_eq!(ended.code == 0, confinement.report().network == Network::Partial);
            let strict = Confinement::choose(Mode::Required, &world.rules(), probe).unwrap();
            assert_eq!(strict.report().network, Network::Blocked);
            assert_ne!(run(&strict, world, &unix("../other/socket")).code, 0);
            works(&strict, world, "python3 -c 'import socket; socket.socketpair()'");
        }
        // Their own ones work.
        let own = "python3 -c '
import socket
server = socket.socket(socket.AF_UNIX)
server.bind(\"s\")
server.listen()
socket.socket(socket.AF_UNIX).connect(\"s\")'";
        works(&confinement, world, own);
    });
}

#[test]
fn abstract_sockets_of_others_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::SocketAddr;

    let name = format!("hermes-confine-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _daemon = UnixListener::bind_addr(&address).unwrap();
    for (mechanism, probe) in mechanisms() {
        if mechanism == Mechanism::Landlock && probe.landlock().is_ok_and(|abi| abi < 6) {
            eprintln!("skipped: Landlock knows abstract sockets from ABI 6 on");
            continue;
        }
        let world = crate::world::World::new();
        let connect = unix(&format!("\\0{name}"));
        assert_ne!(run(&choose(&world.rules(), &probe), &world, &connect).code, 0, "{mechanism:?}");
        let allowed = Rules { network: true, ..world.rules() };
        works(&choose(&allowed, &probe), &world, &connect);
    }
}
