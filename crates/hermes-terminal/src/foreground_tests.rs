//! What may run in the foreground and what not.

use super::*;

fn kind(command: &str) -> &'static str {
    foreground_check(command).map_or("", |issue| issue.kind.name())
}

#[test]
fn wrappers() {
    for command in [
        "nohup ./x > log",
        "a; disown",
        "$(setsid foo)",
        "echo \"$(setsid foo)\"",
        "cd x && nohup ./y",
        "sudo nohup ./x",
        "nohup ./x &",
        "if true; then setsid a; fi",
        "sleep 5 & disown",
    ] {
        assert_eq!(kind(command), "wrapper", "{command}");
    }
    for command in [
        "echo nohup",
        "git commit -m 'nohup'",
        "git commit -m 'use nohup & setsid'",
        "bash -c 'nohup x &'",
        "nohup --help",
        "command -v setsid",
        "timeout 5 nohup ./x",
        "cat <<E\nnohup x\nE",
        "# nohup x",
        "man nohup",
    ] {
        assert_eq!(kind(command), "", "{command}");
    }
}

#[test]
fn background_jobs() {
    for command in [
        "sleep 50 &",
        "./server & curl localhost",
        "./server&",
        "a& b",
        "(sleep 9 &)",
        "(sleep 9 &); wait",
        "sleep 9 & # later",
        "a & b & wait %1",
        "a & b & wait -n",
        "wait; a &",
        "a & wait | cat",
        "a && b &",
        "{ a; b; } &",
        "for i in 1 2; do a & done",
        "echo $(a &)",
        "a --help && b &",
    ] {
        assert_eq!(kind(command), "amp", "{command}");
    }
    for command in [
        "cmd &> log",
        "cmd &>> log",
        "cmd 2>&1",
        "a && b",
        "a |& b",
        "curl 'http://x/?a=1&b=2'",
        "(( a & b ))",
        "echo $((1 & 2))",
        "cat <<E\na & b\nE",
        "ls # a & b",
        "[[ a && b ]]",
        "sleep 5 & wait",
        "a & b & wait",
        "a & p=$!; b; wait $p",
        "for i in 1 2; do a & done; wait",
        "for i in 1 2; do a & p=\"$p $!\"; done; for q in $p; do wait $q; done",
        "(a & b & wait)",
        "{ a & }; wait",
        "echo a\\&b",
        "case x in a) b;& c) d;; esac",
    ] {
        assert_eq!(kind(command), "", "{command}");
    }
}

#[test]
fn servers() {
    for command in [
        "npm run dev",
        "npm run build && npm start",
        "pnpm dev",
        "yarn --cwd web start",
        "npm --prefix web run dev",
        "pnpm --filter web run dev:client",
        "yarn workspace web serve",
        "bun run watch",
        "npm run build:watch",
        "python3 -m http.server 8000",
        "python3.11 -m http.server",
        "python -m uvicorn app:app",
        "python manage.py runserver",
        "uvicorn app:app --port 8000",
        "FOO=1 gunicorn app",
        "docker compose up",
        "docker compose -f x.yml up --build",
        "docker-compose up",
        "sudo docker compose up",
        "next dev",
        "vite",
        "vite --host",
        "npx vite",
        "npx -y vite dev",
        "nodemon x.js",
        "flask run",
        "flask --app x run",
        "rails s",
        "bin/rails server",
        "bundle exec rails s",
        "tail -f f",
        "tail -n 5 -F f",
        "tail -fn5 f",
        "npm run dev && cmd -h",
        "poetry run uvicorn app:app",
        "npm start & wait",
        "php -S localhost:8000",
        "tsc --watch",
        "journalctl -f",
        "kubectl logs -f x",
        "watch ls",
        "sleep infinity",
    ] {
        assert_eq!(kind(command), "server", "{command}");
    }
    for command in [
        "npm test",
        "npm install nodemon",
        "npm run build",
        "npm install dev",
        "yarn add serve",
        "pip install uvicorn",
        "grep uvicorn f",
        "vite build",
        "npx vite build",
        "docker compose up -d",
        "docker compose up --detach",
        "docker-compose up -d",
        "docker compose ps",
        "docker ps",
        "python3 -m http.server --help",
        "uvicorn --version",
        "python -m pytest",
        "python manage.py migrate",
        "flask db upgrade",
        "rails db:migrate",
        "tail f",
        "tail -n 5 f",
        "tail -f --pid=5 f",
        "timeout 5 npm run dev",
        "timeout -k 1 5 tail -f f",
        "next build",
        "php x.php",
        "tsc",
        "journalctl -n 5",
        "kubectl logs x",
        "which uvicorn",
        "echo npm start",
        "sleep 5",
        "npm start -- --help",
        "ls vite",
    ] {
        assert_eq!(kind(command), "", "{command}");
    }
}

#[test]
fn the_text_says_what_to_do() {
    let issue = foreground_check("cd x && npm run dev -- --port 1").unwrap();
    assert_eq!(issue.part, "npm run dev -- --port 1");
    assert!(issue.to_string().contains("background=true"));
}
