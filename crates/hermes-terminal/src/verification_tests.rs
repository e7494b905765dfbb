//! What commands prove, as a table and as properties.

use pretty_assertions::assert_eq;

use super::*;

/// `passed test full cargo test`, or nothing.
fn shown(text: &str, exit_code: i32) -> String {
    verification(text, exit_code).map_or_else(String::new, |it| {
        let status = if it.has_passed { "passed" } else { "failed" };
        format!("{status} {} {} {}", it.kind.as_str(), it.scope.as_str(), it.command)
    })
}

#[test]
fn programs() {
    for (text, expected) in [
        ("cargo test", "test full cargo test"),
        ("cargo test --workspace -j 2", "test full cargo test --workspace -j 2"),
        ("cargo test parse::", "test targeted cargo test parse::"),
        ("cargo test -p api", "test targeted cargo test -p api"),
        ("cargo test -- --nocapture", "test full cargo test -- --nocapture"),
        ("cargo test -- one", "test targeted cargo test -- one"),
        ("cargo +nightly test", "test full cargo +nightly test"),
        ("cargo nextest run", "test full cargo nextest run"),
        ("cargo nextest run -E 'test(x)'", "test targeted cargo nextest run -E 'test(x)'"),
        ("cargo test --no-run", "build full cargo test --no-run"),
        ("cargo check --all-targets", "typecheck full cargo check --all-targets"),
        ("cargo clippy -- -D warnings", "lint full cargo clippy -- -D warnings"),
        ("cargo fmt --all -- --check", "lint full cargo fmt --all -- --check"),
        ("cargo fmt", ""),
        ("cargo run", ""),
        ("cargo test --help", ""),
        ("pytest -q", "test full pytest -q"),
        ("pytest -q tests/x.py", "test targeted pytest -q tests/x.py"),
        ("pytest -k 'a or b'", "test targeted pytest -k 'a or b'"),
        ("pytest -n 4 --maxfail 1", "test full pytest -n 4 --maxfail 1"),
        ("pytest --collect-only", ""),
        ("pytest $FILES", "test targeted pytest $FILES"),
        ("python -m pytest tests", "test targeted python -m pytest tests"),
        ("/usr/bin/python3.12 -m pytest", "test full python3.12 -m pytest"),
        ("uv run pytest", "test full uv run pytest"),
        ("poetry run python -m pytest -x", "test full poetry run python -m pytest -x"),
        ("coverage run -m pytest", "test full coverage run -m pytest"),
        ("python -m unittest", "test full python -m unittest"),
        ("python -m unittest discover -s tests", "test full python -m unittest discover -s tests"),
        ("python -m unittest tests.test_a", "test targeted python -m unittest tests.test_a"),
        ("tox -e py312", "test targeted tox -e py312"),
        ("mypy .", "typecheck full mypy ."),
        ("mypy src/a.py", "typecheck targeted mypy src/a.py"),
        ("ruff check", "lint full ruff check"),
        ("ruff check --exit-zero", ""),
        ("ruff format", ""),
        ("ruff format --check .", "lint full ruff format --check ."),
        ("black --check src", "lint targeted black --check src"),
        ("black src", ""),
        ("npm test", "test full npm test"),
        ("npm t", "test full npm t"),
        ("npm run lint", "lint full npm run lint"),
        ("npm run test:unit", "test targeted npm run test:unit"),
        ("npm run test:ci", "test full npm run test:ci"),
        ("npm test -- src/a.test.ts", "test targeted npm test -- src/a.test.ts"),
        ("npm test -- -t 'adds'", "test targeted npm test -- -t adds"),
        ("npm run check:types", "typecheck full npm run check:types"),
        ("npm run build -w web", "build targeted npm run build -w web"),
        ("npm run build --if-present", ""),
        ("npm run dev", ""),
        ("npm install", ""),
        ("npm lint", ""),
        ("yarn lint", "lint full yarn lint"),
        ("yarn jest a.test.js", "test targeted yarn jest a.test.js"),
        ("pnpm --filter web test", "test targeted pnpm --filter web test"),
        ("bun test", "test full bun test"),
        ("npx tsc --noEmit", "typecheck full npx tsc --noEmit"),
        ("tsc --noEmit -p tsconfig.json", "typecheck full tsc --noEmit -p tsconfig.json"),
        ("tsc -p .", "build full tsc -p ."),
        ("tsc --watch", ""),
        ("npx jest --watch", ""),
        ("npx vitest run src", "test targeted npx vitest run src"),
        ("./node_modules/.bin/eslint .", "lint full eslint ."),
        ("eslint --max-warnings 0 src", "lint targeted eslint --max-warnings 0 src"),
        ("go test ./...", "test full go test ./..."),
        ("go test ./pkg/a", "test targeted go test ./pkg/a"),
        ("go test -run TestA ./...", "test targeted go test -run TestA ./..."),
        ("go test -timeout 30s ./...", "test full go test -timeout 30s ./..."),
        ("go vet ./...", "lint full go vet ./..."),
        ("go build ./...", "build full go build ./..."),
        ("go run .", ""),
        ("make", "build full make"),
        ("make -j4", "build full make -j4"),
        ("make -j 4 check", "test full make -j 4 check"),
        ("make -C api test", "test full make -C api test"),
        ("make test TESTS=a", "test targeted make test TESTS=a"),
        ("make lint test", "test full make lint test"),
        ("make test-unit", "test targeted make test-unit"),
        ("make -n test", ""),
        ("make -i test", ""),
        ("make clean", ""),
        ("make install", ""),
        ("just test", "test full just test"),
        ("just test one", "test targeted just test one"),
        ("./gradlew test", "test full gradlew test"),
        ("./gradlew test --tests A", "test targeted gradlew test --tests A"),
        ("mvn -q test", "test full mvn -q test"),
        ("mvn package -DskipTests", "build full mvn package -DskipTests"),
        ("mvn test -Dtest=A", "test targeted mvn test -Dtest=A"),
        ("cmake --build build", "build full cmake --build build"),
        ("cmake --build build --target test", "test full cmake --build build --target test"),
        ("ctest --test-dir build", "test full ctest --test-dir build"),
        ("ctest -R a", "test targeted ctest -R a"),
        ("dotnet test", "test full dotnet test"),
        ("bazel test //...", "test full bazel test //..."),
        ("bundle exec rspec spec/a_spec.rb", "test targeted bundle exec rspec spec/a_spec.rb"),
        ("pre-commit run --all-files", "lint full pre-commit run --all-files"),
        ("bash scripts/run_tests.sh", "test full bash scripts/run_tests.sh"),
        ("./scripts/test.sh a", "test targeted scripts/test.sh a"),
        ("shellcheck a.sh", "lint targeted shellcheck a.sh"),
        ("test -f x", ""),
        ("echo cargo test", ""),
        ("git commit -m 'cargo test'", ""),
        ("grep pytest x", ""),
        ("which pytest", ""),
        ("pip install pytest", ""),
        ("$RUN test", ""),
        ("", ""),
    ] {
        let expected =
            if expected.is_empty() { String::new() } else { format!("passed {expected}") };
        assert_eq!(shown(text, 0), expected, "{text}");
    }
}

#[test]
fn scripts() {
    for (text, exit_code, expected) in [
        ("cargo test", 101, "failed test full cargo test"),
        ("cd api && A=1 cargo test", 101, "failed test full cargo test"),
        ("cd api && pytest", 1, "failed test full pytest"),
        ("cd api; pytest", 1, "failed test full pytest"),
        ("source .venv/bin/activate && pytest", 1, "failed test full pytest"),
        ("sudo -u bob env A=1 timeout 60 make check", 2, "failed test full make check"),
        ("timeout 60 make check", 124, ""),
        ("timeout 60 make check", 0, "passed test full make check"),
        ("pytest | tail -5", 0, ""),
        ("pytest 2>&1 | tee log", 1, ""),
        ("cargo check && cargo test | tail", 0, "passed typecheck full cargo check"),
        ("cargo check && cargo test | tail", 1, ""),
        ("set -o pipefail; pytest | tail -5", 0, "passed test full pytest"),
        ("set -o pipefail; pytest | tail -5", 1, ""),
        ("pytest || true", 0, ""),
        ("pytest; echo done", 0, ""),
        ("echo go; pytest", 0, "passed test full pytest"),
        ("set -e; cargo build; cargo test", 0, "passed test full cargo test"),
        ("set -e; cargo test; true", 0, "passed test full cargo test"),
        ("set -e; cargo test && true; true", 0, ""),
        ("cargo test; set -e; true", 0, ""),
        ("set -e; set +e; cargo test; true", 0, ""),
        ("set -e; cd x && cargo test", 0, "passed test full cargo test"),
        ("pytest &", 0, ""),
        ("! pytest", 0, ""),
        ("! pytest", 1, ""),
        ("if pytest; then echo ok; fi", 0, ""),
        ("for f in a b; do pytest $f; done", 0, ""),
        ("(cd api && go test ./...)", 1, "failed test full go test ./..."),
        ("{ npm run build; }", 0, "passed build full npm run build"),
        ("npm ci && npm test", 0, "passed test full npm test"),
        ("npm ci && npm test", 1, ""),
        ("cargo fmt --check && cargo test", 0, "passed test full cargo test"),
        ("cargo fmt --check && cargo test", 101, ""),
        ("pytest a && pytest b", 0, "passed test targeted pytest a && pytest b"),
        ("pytest a && pytest b", 1, "failed test targeted pytest a && pytest b"),
        ("make || cargo test", 0, ""),
        ("true || cargo test", 0, ""),
        ("cargo test && exit 0", 0, ""),
        ("cd x || exit 1; cargo test", 0, "passed test full cargo test"),
        ("cd x || exit 1; cargo test", 101, "failed test full cargo test"),
        ("cd x || exit 1; pytest", 1, ""),
        ("cd x || exit; pytest", 0, ""),
        ("mkdir -p x || true; pytest", 0, "passed test full pytest"),
        ("trap 'exit 0' EXIT; cargo test", 0, ""),
        ("cargo test > log 2>&1", 101, "failed test full cargo test"),
        ("cargo test <<E\npytest\nE", 0, "passed test full cargo test"),
        ("pytest", 5, ""),
        ("pytest", 4, ""),
        ("pytest", 2, "failed test full pytest"),
        ("cargo test", 1, ""),
        ("cargo test", 127, ""),
        ("make check", 137, ""),
        ("make check", 139, "failed test full make check"),
        ("make check", -1, ""),
        ("f() { cargo test; }", 0, ""),
        ("cargo test 'unbalanced", 0, ""),
    ] {
        assert_eq!(shown(text, exit_code), expected, "{text} {exit_code}");
    }
}

#[test]
fn long_commands_are_cut() {
    let text = format!("pytest {}", "tests/test_module.py ".repeat(100));
    let proof = verification(&text, 0).unwrap();
    assert_eq!(proof.command.chars().count(), MOST_SHOWN + 1);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that scripts are made of.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "cargo test",
            "pytest",
            "-q",
            "tests/x.py",
            "make",
            "-j4",
            "check",
            "&&",
            "||",
            ";",
            "|",
            "&",
            "(",
            ")",
            "{",
            "}",
            "\n",
            "'",
            "\"",
            "$(",
            "cd x",
            "env A=1",
            "npm run",
            "lint",
            "--",
            "-k",
            "!",
            "if",
            "then",
            "fi",
            "timeout 5",
            "go vet ./...",
            "\\",
            "é",
        ]);
        prop::collection::vec(piece, 0..12).prop_map(|it| it.join(" "))
    }

    proptest! {
        #[test]
        fn nothing_is_proved_where_another_command_ends_the_line(text in pieces()) {
            // Nothing of a text that makes no sense runs at all.
            let ends = ["&", "|", ";", "(", "{", "!", "if", "then", "\n"];
            if ends.iter().any(|it| text.ends_with(it)) {
                return Ok(());
            }
            for other in ["| cat", "; true", "|| true", "&"] {
                // What stands before `&&` passed when a pipeline after it was run at all.
                if other == "| cat" && text.contains("&&") {
                    continue;
                }
                // What isn't closed swallows the other command; then it isn't understood.
                prop_assert_eq!(verification(&format!("{text} {other}"), 0), None, "{}", other);
            }
        }

        #[test]
        fn a_failure_is_none_of_a_success(text in pieces(), code in 1_i32..256) {
            let failed = verification(&text, code);
            prop_assert!(failed.is_none_or(|it| !it.has_passed));
            prop_assert!(verification(&text, 0).is_none_or(|it| it.has_passed));
        }
    }
}
