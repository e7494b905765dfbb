//! Times.
use hermes_command::{Ctx, classify};
use std::io::BufRead as _;
fn main() {
    let ctx = Ctx {
        cwd: "/home/alice/project".into(),
        home: "/home/alice".into(),
        hermes_home: "/home/alice/.hermes".into(),
        env: vec![],
    };
    for line in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let c = v["c"].as_str().unwrap().to_owned();
        let ctx = ctx.clone();
        let k = v["k"].clone();
        eprintln!("start {k}");
        let h = std::thread::Builder::new()
            .stack_size(512 * 1024)
            .spawn(move || {
                let t = std::time::Instant::now();
                let r = classify(&c, &ctx);
                (
                    t.elapsed(),
                    r.findings.first().map(|f| f.rule_id),
                    r.findings.len(),
                    r.commands.len(),
                )
            })
            .unwrap();
        let r = h.join();
        if let Ok((t, f, n, m)) = r {
            println!("{:>9.2} ms {k} {f:?} {n} {m}", t.as_secs_f64() * 1000.0);
        } else {
            println!("PANIC {k}");
        }
    }
}
