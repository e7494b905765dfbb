//! Traces of calls, with and without the feature.

use super::World;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

#[cfg(not(feature = "otel"))]
#[test]
fn the_doctor_tells_that_traces_are_not_compiled_in() {
    let world = World::new();
    let told = "it has no feature `otel`";
    let doctor = world.command(&["doctor"]).env(ENDPOINT, "http://localhost:4318").output();
    let doctor = String::from_utf8(doctor.unwrap().stdout).unwrap();
    assert_eq!(doctor.matches(told).count(), 1, "{doctor}");
    assert!(!world.run(&["doctor"]).exits(0).stdout.contains(told));
}

#[cfg(all(feature = "otel", feature = "file"))]
mod exported {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

    use super::{ENDPOINT, World};
    use crate::Run;

    fn listen() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        (listener, address)
    }

    /// The body of the first request, which is answered.
    fn body(listener: &TcpListener) -> Vec<u8> {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        body
    }

    fn read_notes(world: &World, endpoint: &str, more: &[(&str, &str)]) -> Run {
        std::fs::write(world.cwd().join("notes.txt"), "hunter2\n").unwrap();
        let mut command = world.command(&["call", "read_file", r#"{"path": "notes.txt"}"#]);
        command.env(ENDPOINT, endpoint).envs(more.iter().copied());
        // It is killed then, and has no exit code.
        command.timeout(std::time::Duration::from_secs(100));
        Run::of(&mut command)
    }

    #[test]
    fn spans_of_a_call_arrive_when_the_program_ends() {
        let world = World::new();
        let (listener, endpoint) = listen();
        let collector = std::thread::spawn(move || body(&listener));
        let run = read_notes(&world, &endpoint, &[]).exits(0);
        assert_eq!(run.stderr, "");
        let body = collector.join().unwrap();
        let holds = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
        for text in ["hermes", "read_file", "parse", "validation", "execution"] {
            assert!(holds(text), "{text}");
        }
        for text in ["notes.txt", "hunter2", "path"] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn the_endpoint_may_be_in_the_file_of_variables() {
        let world = World::new();
        let (listener, endpoint) = listen();
        std::fs::write(world.home.path().join(".env"), format!("{ENDPOINT}={endpoint}\n")).unwrap();
        let collector = std::thread::spawn(move || body(&listener));
        world.run(&["call", "read_file", r#"{"path": "missing.txt"}"#]).exits(1);
        assert!(!collector.join().unwrap().is_empty());
    }

    #[test]
    fn a_collector_that_never_answers_is_not_waited_for() {
        let world = World::new();
        let (_listener, endpoint) = listen();
        let hour = [("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000")];
        let run = read_notes(&world, &endpoint, &hour).exits(0);
        assert!(run.stdout.contains("hunter2"), "{run:?}");
        assert_eq!(run.stderr.matches("traces don't reach the collector").count(), 1, "{run:?}");
    }

    #[test]
    fn no_collector_and_a_wrong_address_are_told_once() {
        let world = World::new();
        let (listener, endpoint) = listen();
        drop(listener);
        let run = read_notes(&world, &endpoint, &[]).exits(0);
        assert_eq!(run.stderr.matches("traces don't reach the collector").count(), 1, "{run:?}");
        let run = read_notes(&world, "localhost:4318", &[]).exits(0);
        run.says("no traces are exported: OTEL_EXPORTER_OTLP_ENDPOINT");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}
