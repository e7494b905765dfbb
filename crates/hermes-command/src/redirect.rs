//! Redirects: what is read, and where it is written.

use crate::env::{Env, Unit};
use crate::judge::Judge;
use crate::source::Source;
use crate::syntax::{Operator, Redirect, Script};
use crate::value::{Arg, Flow, Taint, plain};
use std::rc::Rc;

impl Judge {
    /// What redirects give to standard input, and where they write.
    pub(crate) fn redirects(
        &mut self,
        unit: &Rc<Unit>,
        redirects: &[Redirect],
        env: &mut Env,
    ) -> (Option<Flow>, Writes) {
        let mut stdin = None;
        let mut writes = Writes::default();
        for redirect in redirects {
            if redirect.operator == Operator::Document {
                let flow = match unit.source.document(redirect.at) {
                    Some(document)
                        if document.is_quoted || !document.body.contains(['$', '`', '\\']) =>
                    {
                        Flow::known(document.body.clone())
                    }
                    Some(document) => {
                        let body = document.body.clone();
                        self.body(&body, env)
                    }
                    None => Flow::unknown(),
                };
                match redirect.descriptor {
                    Some(number @ 1..) => {
                        env.write(&format!("/dev/fd/{number}"), &flow, false);
                        env.write(&format!("/proc/self/fd/{number}"), &flow, false);
                    }
                    _ => stdin = Some(flow),
                }
                continue;
            }
            let target = self.value(unit, &redirect.target, env);
            let path = crate::path::resolve(&target, env);
            let is_network = ["/dev/tcp/", "/dev/udp/"].iter().any(|it| path.path.starts_with(it));
            writes.is_network |= is_network;
            if let (Some(number @ 1..), Operator::String | Operator::Read) =
                (redirect.descriptor, redirect.operator)
            {
                let flow = match redirect.operator {
                    Operator::String => target.flow(),
                    _ => self.file(&target, env),
                };
                env.write(&format!("/dev/fd/{number}"), &flow, false);
                env.write(&format!("/proc/self/fd/{number}"), &flow, false);
                continue;
            }
            let is_output = redirect.descriptor.is_none_or(|it| it == 1);
            match redirect.operator {
                Operator::String => {
                    let mut flow = target.flow();
                    flow.text.push('\n');
                    stdin = Some(flow);
                }
                Operator::Read | Operator::Both => {
                    let flow = self.file(&target, env);
                    if redirect.descriptor.is_none_or(|it| it == 0) {
                        stdin = Some(flow);
                    }
                    if redirect.operator == Operator::Both {
                        writes.files.push((target, true));
                    }
                }
                Operator::Duplicate => {
                    let number = target.text().trim_end_matches('-').parse::<u32>().ok();
                    let flow = number.and_then(|it| env.descriptors.get(&it).cloned());
                    if let Some(flow) = flow {
                        writes.is_network |= flow.taint.has(Taint::FETCHED);
                        if unit.source.slice(redirect.at..redirect.at + 1) == "<" {
                            stdin = Some(flow);
                        }
                    }
                }
                Operator::Write | Operator::Append | Operator::WriteAll => {
                    writes.takes_output |= is_output || redirect.operator == Operator::WriteAll;
                    writes.files.push((target, redirect.operator == Operator::Append));
                }
                Operator::Document => {}
            }
        }
        (stdin, writes)
    }

    /// The body of a here-document in which variables and substitutions count.
    pub(crate) fn body(&mut self, body: &str, env: &mut Env) -> Flow {
        let source = Source::data(body);
        let unit = Rc::new(Unit { source, script: Script::default() });
        self.nested += 1;
        let flow = self.double(&unit, 0..unit.source.text.len(), env);
        self.nested -= 1;
        flow
    }

    pub(crate) fn open_descriptors(
        &mut self,
        unit: &Rc<Unit>,
        redirects: &[Redirect],
        env: &mut Env,
    ) {
        for redirect in redirects {
            let target = self.value(unit, &redirect.target, env);
            let flow = match redirect.operator {
                Operator::String => target.flow(),
                Operator::Document => {
                    let document = unit.source.document(redirect.at);
                    document.map_or_else(Flow::unknown, |it| Flow::known(it.body.clone()))
                }
                _ => self.file(&target, env),
            };
            let number = redirect.descriptor.unwrap_or(0);
            env.descriptors.insert(number, flow);
        }
    }

    /// What is known of a file that is read.
    pub(crate) fn file(&self, arg: &Arg, env: &Env) -> Flow {
        if let Some(flow) = &arg.file {
            return (**flow).clone();
        }
        let target = crate::path::resolve(arg, env);
        if let Some(flow) = env.files.get(&target.path) {
            return flow.clone();
        }
        let mut taint = arg.taint;
        if target.path.starts_with("/dev/tcp/") || target.path.starts_with("/dev/udp/") {
            taint |= Taint::FETCHED;
        }
        if target.is_secret(&self.homes) {
            taint |= Taint::SECRET;
        }
        if target.path.starts_with("/proc/") && target.path.ends_with("/environ") {
            taint |= Taint::ENVIRONMENT;
        }
        if target.is_agent(&self.homes) || target.path.ends_with("/gateway.pid") {
            taint |= Taint::AGENT;
        }
        let program = crate::links::is_program(&target.path).then(|| target.path.as_str().into());
        Flow { program, ..Flow::tainted(taint) }
    }

    /// Writes what a command printed to the files of its redirects; what is left of it.
    pub(crate) fn write(&mut self, flow: Flow, writes: &Writes, env: &mut Env) -> Flow {
        for (target, append) in &writes.files {
            self.judge_write(target, env);
            if target.is("/dev/fd/62") {
                continue;
            }
            let path = crate::path::resolve(target, env);
            if writes.is_network && flow.taint.has(Taint::SECRET | Taint::ENVIRONMENT) {
                self.exfiltration();
            }
            if writes.takes_output && !path.is_rootless && !path.path.starts_with("/dev/") {
                env.write(&plain(&path.path), &flow, *append);
            }
        }
        let goes_on = writes.files.iter().any(|(target, _)| {
            matches!(target.marked.as_str(), "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1")
        });
        if writes.takes_output && !goes_on { Flow::known("") } else { flow }
    }
}

/// Files that a command writes to by redirects.
#[derive(Default)]
pub(crate) struct Writes {
    files: Vec<(Arg, bool)>,
    /// Whether standard output goes to one.
    takes_output: bool,
    /// Whether one is a network connection.
    pub(crate) is_network: bool,
}
