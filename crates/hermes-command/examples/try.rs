//! Scores.
use hermes_command::{Ctx, classify};
use std::io::BufRead as _;
fn main() {
    let ctx = Ctx { cwd: "/home/alice/project".into(), home: "/home/alice".into(), hermes_home: "/home/alice/.hermes".into(), env: vec![] };
    let (mut n, mut ok) = (0, 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let Ok(v) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        if let Some(s) = v.as_str() {
            let r = classify(s, &ctx);
            println!("{s:?}\n   complete={} dump={}", r.complete, r.env_dump);
            for f in &r.findings { println!("   {} {} hard={} {:?} {:?} {}", f.rule_id, f.category, f.hardline, f.span, f.argv, f.why); }
            for c in &r.commands { println!("   cmd {:?} {}", c.argv, c.depth); }
            continue;
        }
        let Some(c) = v["input"]["command"].as_str() else { continue };
        let e = &v["expect"];
        match v["fn"].as_str().unwrap() {
            "is_env_dump" => { n+=1; if classify(c, &ctx).env_dump == e["env_dump"] { ok+=1 } else { println!("{} dump {c:?}", v["id"]) } }
            "classify_command" => {
                n += 1;
                let t = std::time::Instant::now();
                let r = classify(c, &ctx);
                let el = t.elapsed();
                if std::env::args().nth(1).is_some() { println!("T {} {}", el.as_nanos(), c.len()); }
                let cat = r.category().map_or("none", |c| c.name());
                let also = e["also"].as_array().cloned().unwrap_or_default();
                let good = r.is_dangerous() == e["dangerous"] && r.is_hardline() == e["hardline"] && (e["category"] == cat || also.iter().any(|a| a == cat));
                let partial = !r.complete;
                if good { ok += 1; if partial { println!("{} partial {c:?}", v["id"]) } } else {
                    println!("{} want {} {} hard={} got {cat} hard={} {c:?} {:?}", v["id"], e["category"], e["also"], e["hardline"], r.is_hardline(), r.findings.iter().map(|f| f.rule_id).collect::<Vec<_>>());
                }
            }
            _ => {}
        }
    }
    println!("{ok}/{n}");
}
