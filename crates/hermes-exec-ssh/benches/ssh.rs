//! `true` on a host that is connected to, beside a session of `ssh` over a shared connection.
//! Needs a server, as the tests do; says so and measures nothing where there is none.
#![expect(clippy::unwrap_used, reason = "a bench that can't run should say so")]
#![cfg_attr(not(target_os = "linux"), expect(unused, reason = "the server is for Linux"))]

#[cfg(target_os = "linux")]
#[path = "../tests/ssh/server.rs"]
#[expect(dead_code, clippy::indexing_slicing, clippy::panic, reason = "made for tests")]
mod server;

/// What the server is told where to find.
#[cfg(target_os = "linux")]
mod host {
    use std::path::PathBuf;

    pub(crate) fn variable(name: &str) -> Option<PathBuf> {
        #[expect(clippy::disallowed_methods, reason = "what is installed for tests")]
        std::env::var_os(name).map(PathBuf::from)
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    divan::main();
}

#[cfg(target_os = "linux")]
mod benches {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use divan::Bencher;
    use hermes_exec::environment::{Close, Environment as _, Exit, Start};
    use hermes_exec::program::{Ended, Program};
    use hermes_exec_policy::choice::ssh_socket_name;
    use hermes_exec_ssh::{Options, Ssh};
    use tokio::io::AsyncReadExt as _;
    use tokio::runtime::Runtime;

    use crate::server::Server;

    struct Host {
        runtime: Runtime,
        folder: tempfile::TempDir,
        options: Options,
        _server: Server,
    }

    impl Host {
        fn start() -> Option<Self> {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let folder = tempfile::Builder::new().prefix("ssh-").tempdir_in("/tmp").unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            for name in ["home", "temp"] {
                fs::create_dir(folder.path().join(name)).unwrap();
            }
            match runtime.block_on(Server::start(folder.path(), "/bin/sh")) {
                Ok((server, options)) => Some(Self { runtime, folder, options, _server: server }),
                Err(reason) => {
                    #[expect(clippy::print_stderr, reason = "says why nothing is measured")]
                    {
                        eprintln!("skipped: {reason}");
                    }
                    None
                }
            }
        }
    }

    /// The client, over the connection that an environment keeps.
    fn plain(options: &Options, socket: &Path) -> Program {
        let config = options.config.clone().unwrap();
        let argv = [
            options.program.clone(),
            "-F".into(),
            config.into_os_string(),
            "-S".into(),
            socket.as_os_str().to_owned(),
            "tester@127.0.0.1".into(),
            "true".into(),
        ];
        Program::new(argv).env(options.env.iter().cloned())
    }

    #[divan::bench(sample_count = 20, sample_size = 1)]
    fn multiplexed(bencher: Bencher<'_, '_>) {
        let Some(host) = Host::start() else { return };
        let options = &host.options;
        let ssh = host.runtime.block_on(Ssh::connect(options.clone())).unwrap();
        let name = ssh_socket_name(&options.user, &options.host, options.port);
        let socket = host.folder.path().join("hermes-ssh").join(name);
        let program = plain(options, &socket);
        bencher.bench_local(|| {
            let finished = host.runtime.block_on(program.clone().run()).unwrap();
            assert_eq!(finished.ended, Ended::Exited(0));
        });
        host.runtime.block_on(ssh.close(Close::Remove));
    }

    #[divan::bench(sample_count = 100, sample_size = 1)]
    fn environment(bencher: Bencher<'_, '_>) {
        let Some(host) = Host::start() else { return };
        let ssh = host.runtime.block_on(Ssh::connect(host.options.clone())).unwrap();
        bencher.bench_local(|| {
            host.runtime.block_on(async {
                let mut running = ssh.start(Start::new("true")).await.unwrap();
                let mut output = Vec::new();
                running.output.read_to_end(&mut output).await.unwrap();
                assert_eq!(running.handle.wait().await, Exit::Code(0));
            });
        });
        host.runtime.block_on(ssh.close(Close::Remove));
    }

    #[divan::bench(sample_count = 3, sample_size = 1)]
    fn hundred_megabytes(bencher: Bencher<'_, '_>) {
        let Some(host) = Host::start() else { return };
        let ssh = host.runtime.block_on(Ssh::connect(host.options.clone())).unwrap();
        bencher.bench_local(|| {
            host.runtime.block_on(async {
                let start = Start::new("head -c 100000000 /dev/zero");
                let mut running = ssh.start(start).await.unwrap();
                let mut sink = tokio::io::sink();
                tokio::io::copy(&mut running.output, &mut sink).await.unwrap()
            })
        });
        host.runtime.block_on(ssh.close(Close::Remove));
    }
}
