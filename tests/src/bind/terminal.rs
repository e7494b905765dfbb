//! What goes into a terminal and comes out of it.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_terminal::{
    Admission, Breaker, Output, Watch, WatchEvent, Window, cwd_extract as extract,
    exit_note as note_of, foreground_check as check, prepare_command as prepare,
    sanitize_display_text as sanitize, strip_ansi as strip, sudo_count as count_sudo,
    validate_workdir as validate,
};
use serde_json::{Map, Value, json};

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("strip_ansi", Binding::Checked(strip_ansi)),
    ("sanitize_display_text", Binding::Checked(sanitize_display_text)),
    ("exit_note", Binding::Actual(exit_note)),
    ("validate_workdir", Binding::Actual(validate_workdir)),
    ("foreground_check", Binding::Actual(foreground_check)),
    ("sudo_count", Binding::Actual(sudo_count)),
    ("prepare_command", Binding::Actual(prepare_command)),
    ("bounded_output", Binding::Checked(bounded_output)),
    ("cwd_extract", Binding::Actual(cwd_extract)),
    ("watch", Binding::Checked(watch)),
];

/// A text, or `{key}_repeat`, which stands for a long one.
pub(super) fn long(input: &Value, key: &str) -> Result<String, String> {
    match input.get(format!("{key}_repeat")) {
        Some(repeat) => repeated(repeat),
        None => text(input, key).map(str::to_owned),
    }
}

/// `unit`, `n` times, between `prefix` and `suffix`.
fn repeated(repeat: &Value) -> Result<String, String> {
    let part = |key: &str| repeat.get(key).and_then(Value::as_str).unwrap_or_default();
    let unit = text(repeat, "unit")?.repeat(number(repeat, "n")?);
    Ok([part("prefix"), &unit, part("suffix")].concat())
}

fn number(value: &Value, key: &str) -> Result<usize, String> {
    let number = value.get(key).and_then(Value::as_u64);
    number.map(|it| it as usize).ok_or_else(|| format!("no number {key:?} in {value}"))
}

fn strip_ansi(input: &Value, expect: &Value) -> Result<(), String> {
    cleaned(input, expect, |text| strip(text).into_owned())
}

fn sanitize_display_text(input: &Value, expect: &Value) -> Result<(), String> {
    cleaned(input, expect, |text| sanitize(text).into_owned())
}

fn cleaned(input: &Value, expect: &Value, clean: fn(&str) -> String) -> Result<(), String> {
    let text = long(input, "text")?;
    let start = Instant::now();
    let clean = clean(&text);
    let seconds = start.elapsed().as_secs_f64();
    let shown = || clean.chars().take(200).collect::<String>();
    for (key, expected) in expectations(expect)? {
        let is_met = match key.as_str() {
            "text" => expected == clean.as_str(),
            "text_repeat" => repeated(expected)? == clean,
            "no_escape" => expected.as_bool() == Some(!clean.contains('\u{1B}')),
            "contains" => parts(expected).all(|part| clean.contains(part)),
            "max_seconds" => expected.as_f64().is_some_and(|most| seconds <= most),
            _ => return Err(format!("unknown expectation {key:?}")),
        };
        if !is_met {
            return Err(format!("{key} is not {expected}: {:?}", shown()));
        }
    }
    Ok(())
}

fn expectations(expect: &Value) -> Result<&Map<String, Value>, String> {
    expect.as_object().ok_or_else(|| format!("no object: {expect}"))
}

/// A text, or each of a list.
fn parts(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    list.iter().filter_map(Value::as_str)
}

fn exit_note(input: &Value) -> Result<Value, String> {
    let code = input.get("exit_code").and_then(Value::as_i64).ok_or("no exit code")?;
    let code = i32::try_from(code).map_err(|err| err.to_string())?;
    Ok(json!({ "note": note_of(&long(input, "command")?, code).is_some() }))
}

fn validate_workdir(input: &Value) -> Result<Value, String> {
    Ok(json!({ "ok": validate(&long(input, "workdir")?).is_ok() }))
}

fn foreground_check(input: &Value) -> Result<Value, String> {
    Ok(match check(&long(input, "command")?) {
        None => json!({ "allowed": true }),
        Some(issue) => json!({ "allowed": false, "kind": issue.kind.name() }),
    })
}

fn sudo_count(input: &Value) -> Result<Value, String> {
    Ok(json!({ "count": count_sudo(&long(input, "command")?) }))
}

fn prepare_command(input: &Value) -> Result<Value, String> {
    let command = long(input, "command")?;
    let prepared = prepare(&command);
    let (_, is_valid) = bash(&prepared, &["-n"])?;
    Ok(json!({
        "bash_n_ok": is_valid,
        "idempotent": prepare(&prepared) == prepared,
        "same_stdout_as_plain_bash": bash(&prepared, &[])?.0 == bash(&command, &[])?.0,
    }))
}

/// What bash prints for a script in an empty folder, and whether it succeeds.
#[expect(clippy::disallowed_methods, reason = "the case is about what bash itself does")]
fn bash(script: &str, options: &[&str]) -> Result<(Vec<u8>, bool), String> {
    let error = |err: std::io::Error| format!("bash: {err}");
    let folder = tempfile::tempdir().map_err(error)?;
    let mut file = tempfile::NamedTempFile::new().map_err(error)?;
    file.write_all(script.as_bytes()).map_err(error)?;
    let mut bash = Command::new("bash");
    bash.args(options).arg(file.path()).current_dir(&folder).stdin(Stdio::null());
    let output = bash.output().map_err(error)?;
    Ok((output.stdout, output.status.success()))
}

fn bounded_output(input: &Value, expect: &Value) -> Result<(), String> {
    let mut window = Window::new(number(input, "limit")?);
    let mut peak = 0;
    let mut push = |piece: &str| {
        window.push(piece);
        peak = peak.max(window.held());
    };
    for chunk in list(input, "chunks")? {
        if chunk.get("alphabet").is_some() {
            for letter in ('a'..='z').cycle().take(number(chunk, "alphabet")?) {
                push(letter.encode_utf8(&mut [0; 4]));
            }
            continue;
        }
        let chars: Vec<char> = repeated(chunk)?.chars().collect();
        for piece in chars.chunks(1024) {
            push(&piece.iter().collect::<String>());
        }
    }
    let suffix = input.get("suffix").and_then(Value::as_str).unwrap_or_default();
    let output = window.finish(suffix);
    for (key, expected) in expectations(expect)? {
        if !is_bounded(&output, peak, key, expected)? {
            return Err(format!("{key} is not {expected}: {output:?}, peak {peak}"));
        }
    }
    Ok(())
}

fn is_bounded(output: &Output, peak: usize, key: &str, expected: &Value) -> Result<bool, String> {
    let is_most = |actual: usize| expected.as_u64().is_some_and(|most| actual as u64 <= most);
    let shown = output.head + output.tail;
    let share = output.head as f64 / shown.max(1) as f64;
    Ok(match key {
        "truncated" => *expected == output.is_truncated,
        "text" => *expected == output.text.as_str(),
        "max_len" => is_most(output.text.chars().count()),
        "starts_with" => parts(expected).all(|it| output.text.starts_with(it)),
        "ends_with" => parts(expected).all(|it| output.text.ends_with(it)),
        "contains" => parts(expected).all(|it| output.text.contains(it)),
        "total" => *expected == output.total,
        "head_share" => {
            let limits = expected.as_array().into_iter().flatten().filter_map(Value::as_f64);
            let limits: Vec<f64> = limits.collect();
            let [low, high] = limits.as_slice() else { return Err("no range".to_owned()) };
            (*low..=*high).contains(&share)
        }
        "peak_buffer_max" => is_most(peak),
        _ => return Err(format!("unknown expectation {key:?}")),
    })
}

fn cwd_extract(input: &Value) -> Result<Value, String> {
    let (output, cwd) = (long(input, "output")?, text(input, "cwd")?);
    let found = extract(&output, text(input, "marker")?);
    let (output, new) = found.unwrap_or_else(|| (output.clone(), None));
    Ok(json!({ "output": output, "cwd": new.unwrap_or(cwd) }))
}

/// What the watched processes of a case tell, under the clock of the case.
#[derive(Default)]
struct Told {
    breaker: Breaker,
    events: Vec<(Duration, &'static str)>,
    first: Option<(String, String)>,
    suppressed: Vec<u64>,
    released: Option<u64>,
}

impl Told {
    fn tell(&mut self, now: Duration, event: Option<WatchEvent>) {
        match event {
            None => {}
            Some(WatchEvent::Disabled { .. }) => self.events.push((now, "watch_disabled")),
            Some(WatchEvent::Match { pattern, output, suppressed, .. }) => {
                match self.breaker.admit(now) {
                    Admission::Admitted => {}
                    Admission::Released(dropped) => {
                        self.released = Some(dropped);
                        self.events.push((now, "watch_overflow_released"));
                    }
                    Admission::Tripped => {
                        return self.events.push((now, "watch_overflow_tripped"));
                    }
                    Admission::Dropped => return,
                }
                self.events.push((now, "watch_match"));
                self.suppressed.push(suppressed);
                self.first.get_or_insert((pattern, output));
            }
        }
    }

    /// Tells what is due, of all processes in the order of time.
    fn pass(&mut self, watches: &mut [Watch], until: Duration) {
        while let Some((due, watch)) = watches
            .iter_mut()
            .filter_map(|watch| watch.due().map(|due| (due, watch)))
            .min_by_key(|(due, _)| *due)
            && due <= until
        {
            let event = watch.tick(due);
            self.tell(due, event);
        }
    }
}

fn watch(input: &Value, expect: &Value) -> Result<(), String> {
    let patterns: Vec<&str> = list(input, "patterns")?.iter().filter_map(Value::as_str).collect();
    let processes = input.get("processes").and_then(Value::as_u64).unwrap_or(1).max(1) as usize;
    let mut watches = vec![Watch::new(patterns); processes];
    let mut told = Told::default();
    for chunk in list(input, "chunks")? {
        let chunk = chunk.as_array().map_or(&[][..], Vec::as_slice);
        let (Some(seconds), Some(output)) = (chunk.first().and_then(Value::as_f64), chunk.get(1))
        else {
            return Err(format!("no chunk: {chunk:?}"));
        };
        let output = match output.as_str() {
            Some(output) => output.to_owned(),
            None => repeated(output)?,
        };
        let now = Duration::from_secs_f64(seconds);
        told.pass(&mut watches, now);
        let process = chunk.get(2).and_then(Value::as_u64).unwrap_or(0) as usize;
        let watch = watches.get_mut(process).ok_or("no such process")?;
        let event = watch.push(now, output.as_bytes());
        told.tell(now, event);
    }
    told.pass(&mut watches, Duration::MAX);
    let is_disabled = watches.iter().any(Watch::is_disabled);
    for (key, expected) in expectations(expect)? {
        if !is_told(&told, is_disabled, key, expected)? {
            let Told { events, first, suppressed, released, .. } = &told;
            return Err(format!(
                "{key} is not {expected}: {events:?}, {first:?}, {suppressed:?}, {released:?}"
            ));
        }
    }
    Ok(())
}

fn is_told(told: &Told, is_disabled: bool, key: &str, expected: &Value) -> Result<bool, String> {
    let first = told.first.as_ref();
    let output = first.map(|(_, output)| output.as_str()).unwrap_or_default();
    let is_most = |actual: usize| expected.as_u64().is_some_and(|most| actual as u64 <= most);
    Ok(match key {
        "events" => {
            let expected = expected.as_array().ok_or("no list")?;
            let same = |(expected, actual): (&Value, &(Duration, &str))| {
                let time = expected.get(0).and_then(Value::as_f64);
                time.is_some_and(|time| (time - actual.0.as_secs_f64()).abs() < 1e-6)
                    && expected.get(1).and_then(Value::as_str) == Some(actual.1)
            };
            expected.len() == told.events.len() && expected.iter().zip(&told.events).all(same)
        }
        "counts" => expectations(expected)?
            .iter()
            .all(|(name, count)| *count == told.events.iter().filter(|(_, it)| it == name).count()),
        "pattern" => first.is_some_and(|(pattern, _)| *expected == pattern.as_str()),
        "matched_lines" => *expected == output.lines().count(),
        "matched_lines_max" => is_most(output.lines().count()),
        "output_max_chars" => is_most(output.chars().count()),
        "suppressed" => *expected == json!(told.suppressed),
        "released_suppressed" => *expected == json!(told.released),
        "disabled" | "notify_on_complete" => *expected == is_disabled,
        _ => return Err(format!("unknown expectation {key:?}")),
    })
}
