//! The packages that runners fetch and run: `npx`, `uvx`, `pipx run`, `bunx`, `pnpm dlx` and others.
//!
//! Names and versions are read from the arguments only, to ask a database of malicious packages
//! about them before they run. What isn't fetched from a registry, such as folders, repositories
//! and archives, has no name there.

mod runner;
mod spec;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ecosystem {
    /// Packages of JavaScript.
    Npm,
    /// Packages of Python.
    PyPi,
}

impl Ecosystem {
    /// The name that databases of vulnerabilities know it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "PyPI",
        }
    }
}

/// A package of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name, with the scope if it has one.
    pub name: String,
    /// The version that was asked for; none if it is a tag or a range.
    pub version: Option<String>,
}

/// What a command would fetch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The package that is run; none if the command is no runner, or it isn't from a registry.
    pub main: Option<Package>,
    /// Packages that are installed beside it, which may run too.
    pub beside: Vec<Package>,
}

impl Fetched {
    /// All of them, the main one first.
    pub fn iter(&self) -> impl Iterator<Item = &Package> {
        self.main.iter().chain(&self.beside)
    }
}

/// The packages that a program with these arguments would fetch and run.
#[must_use]
pub fn fetched<S: AsRef<str>>(program: &str, arguments: &[S]) -> Fetched {
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    runner::fetched(program, &arguments)
}

#[cfg(test)]
mod tests;
