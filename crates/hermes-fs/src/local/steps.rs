//! Carrying out a plan of several steps, with a journal where there is a place for it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::commit::{Stop, Ways, in_order};
use super::draft::Draft;
use super::folder::{Folders, Place};
use super::journal::{Mark, Record, State, Step};
use super::lock::Locks;
use super::open::open;
use super::staging::{Journal, Staging};
use super::store::{self, InPlace};
use crate::error::FsError;
use crate::plan::{Committed, Move, Plan, Removal, Write};

/// The changes of a plan as far as they are made.
pub(super) struct Commit<'a> {
    locks: &'a mut Locks,
    staging: Option<&'a Staging>,
    ways: &'a Ways,
    /// Names the files of the plan's own.
    id: &'a str,
    folders: Folders,
    journal: Option<Journal<'a>>,
    record: Record,
    /// How many steps are done.
    done: usize,
    /// For which paths there may be files of the plan's own, and aren't yet.
    free: Vec<Option<PathBuf>>,
}

/// A step with what it takes to do it now.
struct Ready<'a> {
    verb: &'static str,
    /// The file that people know.
    path: PathBuf,
    /// The write that it is for.
    write: Option<&'a Write>,
    /// A new file, locked.
    new: Option<File>,
}

impl<'a> Commit<'a> {
    pub(super) fn new(
        locks: &'a mut Locks,
        staging: Option<&'a Staging>,
        ways: &'a Ways,
        id: &'a str,
    ) -> Self {
        let (folders, record) = (Folders::default(), Record::default());
        Self { locks, staging, ways, id, folders, journal: None, record, done: 0, free: Vec::new() }
    }

    pub(super) fn run(&mut self, plan: &Plan) -> Result<Committed, Stop> {
        self.note(plan);
        let created_folders = self.create_folders()?;
        let mut warnings = BTreeSet::new();
        let mut writes = Vec::new();
        for write in &plan.writes {
            let in_place = self.ways.in_place(write);
            warnings.extend(in_place.and_then(InPlace::warning));
            writes.push(self.prepare(write, in_place)?);
        }
        let removals = plan.removals.iter().map(|Removal { path, old }| (path, old));
        let moves = plan.moves.iter().map(|Move { from, old, .. }| (from, old));
        for (path, old) in removals.chain(moves) {
            if let Some(old) = old {
                store::check_unchanged(path, old)?;
            }
        }
        let mut steps = Vec::new();
        for Removal { path, .. } in &plan.removals {
            steps.push(self.set_aside("remove", path)?);
        }
        self.plan_moves(plan, &mut steps)?;
        steps.extend(writes);
        let (steps, ready): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
        self.record.steps = steps;
        if let Some(journal) = &mut self.journal {
            let first = ready.first().map_or(Path::new(""), |ready| &ready.path);
            journal.commit(&self.record).map_err(|err| FsError::io("write", first, err))?;
        }
        for ready in ready {
            self.step(ready)?;
        }
        self.end();
        Ok(Committed { created_folders, warnings: warnings.into_iter().collect() })
    }

    /// Notes what the plan may leave behind, before there is anything.
    fn note(&mut self, plan: &Plan) {
        let targets = plan.moves.iter().map(|it| &it.to);
        let targets = targets.chain(plan.writes.iter().map(|write| &write.path));
        let missing: BTreeSet<&Path> = targets
            .flat_map(|path| path.ancestors().skip(1).take_while(|above| !above.is_dir()))
            .collect();
        self.record.folders = missing.into_iter().map(OsString::from).collect();
        let removals = plan.removals.iter().map(|it| &it.path);
        let moves = plan.moves.iter().flat_map(|it| [&it.from, &it.to]);
        let writes = plan.writes.iter().flat_map(|it| [&it.path, &it.path]);
        self.free = removals.chain(moves).chain(writes).cloned().map(Some).collect();
        for (index, path) in self.free.iter().flatten().enumerate() {
            let beside = path.with_file_name(self.name_beside(index));
            self.record.temps.push(beside.into());
            let staged = self.staging.map(|staging| self.name_staged(staging, index));
            self.record.temps.extend(staged.map(OsString::from));
        }
        let Some(staging) = self.staging else { return };
        self.journal = match staging.begin(self.id, &self.record) {
            Ok(journal) => Some(journal),
            Err(err) => {
                tracing::warn!("a patch has no journal: {err}");
                self.staging = None;
                None
            }
        };
    }

    fn name_beside(&self, index: usize) -> String {
        format!(".hermes-{}-{index}.tmp", self.id)
    }

    fn name_staged(&self, staging: &Staging, index: usize) -> PathBuf {
        staging.join(&format!("{}-{index}", self.id))
    }

    /// Places of the plan's own for a file that goes to or comes from the path: staged, and beside.
    fn temp(&mut self, path: &Path) -> (Option<PathBuf>, PathBuf) {
        // There are as many places for each path as it can take.
        let index = self.free.iter().position(|free| free.as_deref() == Some(path));
        let index = index.unwrap_or(self.free.len());
        if let Some(free) = self.free.get_mut(index) {
            *free = None;
        }
        let beside = path.with_file_name(self.name_beside(index));
        let staged = self.staging.map(|staging| self.name_staged(staging, index));
        (staged, beside)
    }

    /// Creates the folders that are missing, one by one.
    fn create_folders(&mut self) -> Result<bool, FsError> {
        let mut created = Vec::new();
        for folder in std::mem::take(&mut self.record.folders) {
            let path = Path::new(&folder);
            let error = |err| FsError::io("create", path, err);
            let result =
                self.folders.place(path).and_then(|place| match std::fs::create_dir(place.at()) {
                    Err(err)
                        if err.kind() == io::ErrorKind::AlreadyExists && place.at().is_dir() =>
                    {
                        Ok(false)
                    }
                    result => result.map(|()| true),
                });
            if let Ok(true) = result {
                created.push(folder.clone());
            }
            self.record.folders.clone_from(&created);
            result.map_err(error)?;
        }
        Ok(!created.is_empty())
    }

    /// Stores a content, ready to take its place.
    fn prepare<'w>(
        &mut self,
        write: &'w Write,
        in_place: Option<InPlace>,
    ) -> Result<(Step, Ready<'w>), Stop> {
        let path = &write.path;
        let mut ready = Ready { verb: "write", path: path.clone(), write: Some(write), new: None };
        let error = |err| Stop::Error(FsError::io("write", path, err));
        if let (Some(_), Some(old)) = (in_place, &write.old) {
            let before = store::read(path).map_err(error)?;
            let mut copies = [OsString::new(), OsString::new()];
            for (copy, bytes) in copies.iter_mut().zip([&write.bytes, &before]) {
                if let (Some(at), _) = self.temp(path) {
                    self.copy_to(&at, bytes).map_err(error)?;
                    *copy = at.into();
                }
            }
            let [new, copy] = copies;
            let known = Some(Arc::new([write.bytes.clone(), before]));
            let file = Mark::of(&old.stat).file();
            let step = Step::Overwrite { new, old: copy, to: path.into(), file, known };
            return Ok((step, ready));
        }
        let place = self.folders.place(path).map_err(error)?;
        let (staged, beside) = self.temp(path);
        let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draft = store::stage(write, &place, &name).map_err(|it| Stop::write(write, it))?;
        let (from, new) = self.leave(draft, staged, beside).map_err(error)?;
        let file = Mark::from(new.metadata().map_err(error)?);
        ready.new = Some(new);
        let (from, to) = (from.into(), path.into());
        let step = match &write.old {
            Some(old) => Step::Swap { from, to, file, old: Mark::of(&old.stat) },
            None => Step::Move { from, to, file },
        };
        Ok((step, ready))
    }

    /// Gives a new file its place in the staging folder, or beside its target.
    fn leave(
        &mut self,
        mut draft: Draft,
        staged: Option<PathBuf>,
        beside: PathBuf,
    ) -> io::Result<(PathBuf, File)> {
        if let Some(staged) = staged.filter(|_| !self.ways.apart)
            && draft.name(&self.folders.place(&staged)?.at()).is_ok()
        {
            return Ok((staged, draft.keep()?));
        }
        if !draft.has_name() {
            draft.name(&self.folders.place(&beside)?.at())?;
        }
        Ok((beside, draft.keep()?))
    }

    fn copy_to(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let place = self.folders.place(path)?;
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(place.at())?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// What is at the path goes to a place of the plan's own.
    fn set_aside<'w>(
        &mut self,
        verb: &'static str,
        path: &Path,
    ) -> Result<(Step, Ready<'w>), Stop> {
        let file = self.mark(verb, path)?;
        let (staged, beside) = self.temp(path);
        let to = staged.filter(|_| !self.ways.apart).unwrap_or(beside);
        self.try_way(verb, path, &to)?;
        let ready = Ready { verb, path: path.to_owned(), write: None, new: None };
        Ok((Step::Move { from: path.into(), to: to.into(), file }, ready))
    }

    /// Finds out whether a file could be renamed from one path to another, which nothing has. Once
    /// the journal is complete it would be too late.
    fn try_way(&mut self, verb: &'static str, from: &Path, to: &Path) -> Result<(), Stop> {
        let mut place = |path| self.folders.place(path).map_err(|err| Stop::io(verb, path, err));
        let [from_place, to_place] = [place(from)?, place(to)?];
        if from_place.folder() == to_place.folder() {
            return Ok(());
        }
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        // What else is wrong is found out by the step.
        let Ok(mut draft) = Draft::new(from_place.folder(), &name) else { return Ok(()) };
        match draft.name(&to_place.at()) {
            Err(err) if err.kind() == io::ErrorKind::CrossesDevices => {
                Err(Stop::io(verb, from, err))
            }
            _ => Ok(()),
        }
    }

    fn mark(&mut self, verb: &'static str, path: &Path) -> Result<Mark, FsError> {
        let mark = self.folders.place(path).and_then(|place| Mark::at(&place.at()));
        let mark = mark.and_then(|mark| mark.ok_or_else(|| io::ErrorKind::NotFound.into()));
        mark.map_err(|err| FsError::io(verb, path, err))
    }

    fn plan_moves<'w>(
        &mut self,
        plan: &Plan,
        steps: &mut Vec<(Step, Ready<'w>)>,
    ) -> Result<(), Stop> {
        let ready = |path: &Path, new| Ready { verb: "move", path: path.into(), write: None, new };
        if self.ways.apart {
            let mut copies = Vec::new();
            for Move { from, to, .. } in &plan.moves {
                let (copy, new) =
                    self.copy(from, to).map_err(|err| FsError::io("move", from, err))?;
                let file = self.mark("move", &copy)?;
                let step = Step::Move { from: copy.into(), to: to.into(), file };
                copies.push((step, ready(to, Some(new))));
                steps.push(self.set_aside("move", from)?);
            }
            steps.extend(copies);
            return Ok(());
        }
        let mut moves = Vec::new();
        for Move { from, to, .. } in &plan.moves {
            moves.push((from.clone(), to.clone(), self.mark("move", from)?));
            let (_, beside) = self.temp(to);
            self.try_way("move", from, &beside)?;
        }
        // Beside the file, it is on the same file system for sure.
        let moves = in_order(moves, |from| self.temp(from).1);
        for (from, to, file) in moves {
            let ready = ready(&from, None);
            steps.push((Step::Move { from: from.into(), to: to.into(), file }, ready));
        }
        Ok(())
    }

    /// Copies a file to another file system, with its permissions.
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<(PathBuf, File)> {
        let place = self.folders.place(to)?;
        let (_, beside) = self.temp(to);
        let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draft = Draft::new(place.folder(), &name)?;
        let mut source = open(from)?;
        io::copy(&mut source, &mut draft.file())?;
        draft.file().set_permissions(source.metadata()?.permissions())?;
        draft.file().sync_all()?;
        self.leave(draft, None, beside)
    }

    /// Does the next step.
    fn step(&mut self, ready: Ready<'_>) -> Result<(), Stop> {
        let Ready { verb, path, write, new } = ready;
        let Some(step) = self.record.steps.get(self.done) else { return Ok(()) };
        let error = |err: io::Error| match write {
            Some(write) => Stop::write(write, store::Failure::Io(err)),
            None => Stop::io(verb, &path, err),
        };
        if let Some(old) = write.and_then(|write| write.old.as_ref()) {
            store::check_unchanged(&path, &old.stat)?;
        }
        match step.forward(&mut self.folders) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {
                let to = step.target().to_owned();
                let exists =
                    if write.is_some() { FsError::Changed(to) } else { FsError::Exists(to) };
                return Err(exists.into());
            }
            Err(err) if err.kind() == io::ErrorKind::CrossesDevices => {
                return Err(Stop::Apart(FsError::io(verb, &path, err)));
            }
            result => result.map_err(error)?,
        }
        if write.is_some() {
            match step.state(&mut self.folders) {
                Ok(State::After) => {}
                // What is there now is somebody else's, and not to be undone.
                Ok(_) => return Err(FsError::Overtaken(path).into()),
                // It could be written and not read: such permissions there are.
                Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {}
                Err(err) => return Err(FsError::io("read back", &path, err).into()),
            }
        }
        self.done += 1;
        if let (Some(new), Some(lock)) = (new, self.locks.get(&path)) {
            lock.keep(new);
        }
        Ok(())
    }

    /// All is done.
    fn end(&mut self) {
        let changed = self.record.steps.iter().flat_map(|step| [step.target(), step.source()]);
        let places: Vec<_> = changed.filter_map(|path| self.folders.place(path).ok()).collect();
        let folders: BTreeSet<&Path> = places.iter().map(Place::folder).collect();
        for folder in folders {
            store::sync(folder);
        }
        if let Some(journal) = &mut self.journal {
            journal.done();
        }
        self.record.clean(&mut self.folders, self.id, &[]);
        if let Some(journal) = self.journal.take() {
            journal.end();
        }
    }

    /// Takes back what was done. Gives back what couldn't be.
    pub(super) fn roll_back(mut self) -> Vec<(PathBuf, String)> {
        let mut left = Vec::new();
        if let Some(journal) = &mut self.journal
            && let Err(err) = journal.undo()
        {
            tracing::warn!("the journal of a patch can't be changed: {err}");
        }
        let is_own = |path: &Path| self.record.temps.iter().any(|temp| temp == path.as_os_str());
        let mut needed = Vec::new();
        for (step, reason) in self.record.roll_back(&mut self.folders, self.done) {
            let user_to_user = !is_own(step.source()) && !is_own(step.target());
            let is_move = matches!(step, Step::Move { .. });
            let path = if user_to_user && is_move { step.source() } else { step.target() };
            left.push((path.to_owned(), reason));
            needed.extend([step.source(), step.target()]);
        }
        if let Some(journal) = self.journal.as_mut().filter(|_| needed.is_empty()) {
            journal.done();
        }
        self.record.clean(&mut self.folders, self.id, &needed);
        self.record.remove_folders(&mut self.folders);
        if let Some(journal) = self.journal.take() {
            journal.end();
        }
        left
    }
}
