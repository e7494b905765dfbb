//! Choosing who refuses, and starting commands under it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use crate::bubblewrap;
use crate::explain;
use crate::kernel::{self, Fence, Filter, Restrictions, Sockets};
use crate::mode::Mode;
use crate::probe::Probe;
use crate::report::{Filesystem, Mechanism, Network, Report};
use crate::rules::{Rules, Verdict};
use crate::sockets;

/// The version of Landlock from which a file can't be cut short without a right to.
const TRUNCATION: u32 = 3;

/// The version of Landlock that knows TCP.
const TCP: u32 = 4;

/// The version of Landlock that tells unix sockets by their paths.
const UNIX: u32 = 9;

/// Rules, and who makes them hold. Clones share both.
///
/// Folders are opened when it is made: one that is removed and made anew afterwards is another one,
/// which rules don't name. It is cheap, so make one for each command.
#[derive(Clone, Debug)]
pub struct Confinement {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    rules: Rules,
    report: Report,
    restrictions: Restrictions,
    bubblewrap: Option<PathBuf>,
}

/// What is required doesn't hold on this machine.
#[derive(Debug)]
pub struct Unavailable {
    reasons: Vec<String>,
}

impl Confinement {
    /// What makes `rules` hold best: bubblewrap, else Landlock and a filter of system calls, else
    /// what of them there is.
    ///
    /// # Errors
    ///
    /// Confinement is required, and files elsewhere could be changed or a network that isn't
    /// allowed be used. That something inside of a writable folder can't be protected or hidden is
    /// no error; the report says it.
    pub fn choose(mode: Mode, rules: &Rules, probe: &Probe) -> Result<Self, Unavailable> {
        if mode == Mode::Off {
            return Ok(Self::none(rules, Vec::new()));
        }
        let rules = rules.resolved();
        let chosen = if let Ok(program) = &probe.bubblewrap {
            Self::by_bubblewrap(program, rules, probe)
        } else {
            Self::by_kernel(rules, probe, mode == Mode::Required)
        };
        let report = chosen.report();
        let network = chosen.shared.rules.network || report.network == Network::Blocked;
        let files = match report.mechanism {
            Mechanism::Bubblewrap => true,
            Mechanism::Landlock => report.abi.is_some_and(|abi| abi >= TRUNCATION),
            Mechanism::Seccomp | Mechanism::None => false,
        };
        if mode == Mode::Required && !(network && files) {
            return Err(Unavailable { reasons: report.reasons.clone() });
        }
        Ok(chosen)
    }

    fn new(
        rules: Rules,
        report: Report,
        restrictions: Restrictions,
        bubblewrap: Option<PathBuf>,
    ) -> Self {
        Self { shared: Arc::new(Shared { rules, report, restrictions, bubblewrap }) }
    }

    fn none(rules: &Rules, reasons: Vec<String>) -> Self {
        Self::new(rules.clone(), Report::nothing(reasons), Restrictions::default(), None)
    }

    fn by_bubblewrap(program: &Path, rules: Rules, probe: &Probe) -> Self {
        let mut report = Report {
            mechanism: Mechanism::Bubblewrap,
            abi: None,
            filesystem: Filesystem::Enforced,
            network: if rules.network { Network::Open } else { Network::Blocked },
            reasons: Vec::new(),
        };
        let mut restrictions = Restrictions::default();
        if !rules.network {
            match filter(Sockets::Enclosed, probe) {
                Ok(filter) => restrictions.filter = Some(filter),
                Err(reason) => {
                    report.network = Network::Partial;
                    report.reasons.push(format!(
                        "sockets to the host of a virtual machine can't be refused: {reason}"
                    ));
                }
            }
        }
        Self::new(rules, report, restrictions, Some(program.to_owned()))
    }

    /// Landlock and a filter. `strict` refuses what can't be told from what is refused.
    fn by_kernel(rules: Rules, probe: &Probe, strict: bool) -> Self {
        let mut report = Report::nothing(Vec::new());
        let mut restrictions = Restrictions::default();
        let fence = probe.landlock.clone().and_then(|abi| {
            let fence = Fence::new(&rules).map_err(|error| error.to_string())?;
            Ok((abi, fence))
        });
        match fence {
            Ok((abi, fence)) => {
                report.mechanism = Mechanism::Landlock;
                report.abi = Some(abi);
                report.filesystem = Filesystem::Enforced;
                restrictions.fence = Some(fence);
                restrictions.capabilities = true;
                weaknesses(&rules, abi, &mut report);
            }
            Err(reason) => report.reasons.push(format!("files aren't guarded: landlock: {reason}")),
        }
        if !rules.network {
            let abi = report.abi.unwrap_or(0);
            let allowed = if strict && abi < UNIX { Sockets::None } else { Sockets::Unix };
            match filter(allowed, probe) {
                Ok(filter) => {
                    if report.mechanism == Mechanism::None {
                        report.mechanism = Mechanism::Seccomp;
                    }
                    restrictions.filter = Some(filter);
                    report.network = Network::Blocked;
                    if abi < UNIX && !strict {
                        report.network = Network::Partial;
                        report.reasons.push(format!(
                            "daemons of this machine can be reached by their unix sockets: \
                             Landlock ABI {UNIX} would refuse that"
                        ));
                    }
                }
                Err(reason) => {
                    if abi >= TCP {
                        report.network = Network::Partial;
                    }
                    report.reasons.push(format!("the network isn't blocked: seccomp: {reason}"));
                }
            }
        }
        if let Err(reason) = &probe.bubblewrap
            && !report.reasons.is_empty()
        {
            report.reasons.push(format!("bubblewrap would hold more: {reason}"));
        }
        Self::new(rules, report, restrictions, None)
    }

    /// What holds.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.shared.report
    }

    /// Starts a command: `spawn` gets the words to run, which may be others than `argv`, and must
    /// start them from the thread that it is called on. That isn't the caller's thread: who spawns
    /// by a runtime enters it in `spawn`.
    ///
    /// Nothing else should be done in `spawn`: it may be as confined as the command. Descriptors
    /// that are open stay usable. The thread ends before the command does, so nothing may be tied
    /// to it (`PR_SET_PDEATHSIG`).
    ///
    /// # Errors
    ///
    /// `spawn` failed, there is no thread to be had, or the kernel refused a restriction. If it is
    /// bubblewrap that can't do its work, the command ends with 1 and says so in its output.
    pub fn start<T: Send>(
        &self,
        argv: Vec<OsString>,
        spawn: impl FnOnce(Vec<OsString>) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let argv = match &self.shared.bubblewrap {
            Some(program) => self.wrapped(program, argv),
            None => argv,
        };
        let restrictions = &self.shared.restrictions;
        if restrictions.fence.is_none() && restrictions.filter.is_none() {
            return spawn(argv);
        }
        restrictions.around(|| spawn(argv))
    }

    fn wrapped(&self, program: &Path, argv: Vec<OsString>) -> Vec<OsString> {
        let rules = &self.shared.rules;
        // Daemons come and go: they are looked for each time. Where there is no table to look in,
        // there are none to be seen either.
        let sockets = if rules.network {
            Default::default()
        } else {
            sockets::listening(&fs::read_to_string("/proc/net/unix").unwrap_or_default())
        };
        let sockets = sockets.into_iter().filter_map(|it| it.canonicalize().ok());
        let reachable = |it: &PathBuf| {
            matches!(rules.about(it), Verdict::Outside | Verdict::Protected)
                && !it.starts_with("/dev")
                && kernel::may_write(it)
                && sockets::stays(it)
        };
        let sockets = sockets.filter(reachable);
        let mut words = bubblewrap::prefix(program, rules, sockets, kernel::is_superuser());
        words.extend(argv);
        words
    }

    /// Says that a command failed because of the confinement, and what to do about it, if its
    /// output shows that. `cwd` is where the command ran.
    ///
    /// It would rather say nothing than put the blame on the sandbox wrongly: a refused path must
    /// be one that the rules close and that we, unconfined, could write.
    #[must_use]
    pub fn explains(&self, output: &str, exit_code: i32, cwd: &Path) -> Option<String> {
        explain::explain(&self.shared.rules, &self.shared.report, output, exit_code, cwd)
    }
}

/// What Landlock of some version can't do for these rules.
fn weaknesses(rules: &Rules, abi: u32, report: &mut Report) {
    if abi < TRUNCATION {
        report.weaken_files(format!("Landlock ABI {abi} lets files elsewhere be cut short"));
    }
    let inside = |path: &&PathBuf| rules.writable.iter().any(|it| path.starts_with(it));
    if let Some(path) = rules.protected.iter().find(inside) {
        let path = path.display();
        report.weaken_files(format!("Landlock can't protect {path} inside of a writable folder"));
    }
    if let Some(path) = rules.hidden.first() {
        report.weaken_files(format!("Landlock can't hide {}", path.display()));
    }
}

fn filter(allowed: Sockets, probe: &Probe) -> Result<Filter, String> {
    probe.seccomp.clone()?;
    Filter::new(allowed).map_err(|error| error.to_string())
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("commands must be confined and this machine can't do that: ")?;
        f.write_str(&self.reasons.join("; "))
    }
}

impl std::error::Error for Unavailable {}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn rules() -> Rules {
        Rules { writable: vec!["/".into()], ..Rules::default() }
    }

    #[test]
    fn without_a_mechanism_auto_says_so_and_required_fails() {
        let chosen = Confinement::choose(Mode::Auto, &rules(), &Probe::nothing()).unwrap();
        assert_eq!(chosen.report().mechanism, Mechanism::None);
        assert_eq!(chosen.report().reasons.len(), 3, "{:?}", chosen.report());
        let refused = Confinement::choose(Mode::Required, &rules(), &Probe::nothing());
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("landlock: missing") && text.contains("seccomp: missing"), "{text}");
        let argv = chosen.start(vec!["a".into()], Ok).unwrap();
        assert_eq!(argv, ["a"]);
    }

    #[test]
    fn off_changes_nothing() {
        let here = std::thread::current().id();
        let chosen = Confinement::choose(Mode::Off, &rules(), &Probe::nothing()).unwrap();
        assert_eq!(chosen.report(), &Report::nothing(Vec::new()));
        let started =
            chosen.start(vec!["a".into()], |argv| Ok((argv, std::thread::current().id())));
        assert_eq!(started.unwrap(), (vec!["a".into()], here));
        let refused = "touch: cannot touch '/usr/x': Read-only file system";
        assert_eq!(chosen.explains(refused, 1, Path::new("/")), None);
    }
}
