//! Asking a database of vulnerabilities whether a package is malicious, before it is run.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_guard::packages::{Ecosystem, Fetched, Package};
use hermes_registry::CancellationToken;
use serde_json::{Map, Value, json};

use crate::base_url::BaseUrl;
use crate::client::Client;
use crate::error::{NetError, NetErrorKind};

/// The database, and the variable that names another one.
const ENDPOINT: (&str, &str) = ("OSV_ENDPOINT", "https://api.osv.dev/v1/query");
/// Where questions go if the other one is named by its host alone.
const PATH: &str = "v1/query";
/// How long an answer may take, and how many bytes it may have: packages have long histories.
const LIMITS: (Duration, u64) = (Duration::from_secs(10), 32 * 1024 * 1024);
/// How long answers are kept, and how many.
const KEPT: (Duration, usize) = (Duration::from_secs(60 * 60), 1000);
/// What the ids of malicious packages begin with.
const MALICIOUS: &str = "MAL-";
/// How many reports are told of, and how many characters of each.
const TOLD: (usize, usize) = (3, 100);

/// Asks about packages, and remembers the answers for an hour.
#[derive(Debug)]
pub struct Osv {
    client: Client,
    endpoint: BaseUrl,
    answers: Mutex<HashMap<Package, (Instant, Vec<Report>)>>,
}

/// What is known about a malicious package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The id in the database.
    pub id: String,
    /// At most 100 characters about it.
    pub summary: String,
}

/// A package that isn't to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malware {
    /// The package.
    pub package: Package,
    /// What is known about it: at most three reports.
    pub reports: Vec<Report>,
}

impl fmt::Display for Malware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Package { ecosystem, name, version } = &self.package;
        write!(f, "the {} package {name}", ecosystem.name())?;
        if let Some(version) = version {
            write!(f, " {version}")?;
        }
        f.write_str(" is known to be malicious and isn't run:")?;
        for (at, Report { id, summary }) in self.reports.iter().enumerate() {
            write!(f, "{} {id}", if at > 0 { ";" } else { "" })?;
            if !summary.is_empty() {
                write!(f, " ({summary})")?;
            }
        }
        Ok(())
    }
}

impl Osv {
    /// Asks the public database, or the one at `configured`, which is what `OSV_ENDPOINT` says.
    ///
    /// # Errors
    /// `configured` is no URL.
    pub fn new(client: Client, configured: Option<&str>) -> Result<Self, NetError> {
        let (setting, default) = ENDPOINT;
        let endpoint = BaseUrl::new(setting, default, configured)?;
        Ok(Self { client, endpoint, answers: Mutex::default() })
    }

    /// The first of the packages that is known to be malicious. What can't be found out is taken
    /// for harmless: the database must not decide whether anything runs.
    pub async fn check(&self, fetched: &Fetched, cancel: &CancellationToken) -> Option<Malware> {
        for package in fetched.iter() {
            match self.reports(package, cancel).await {
                Ok(reports) if reports.is_empty() => {}
                Ok(reports) => return Some(Malware { package: package.clone(), reports }),
                Err(err) => {
                    tracing::warn!(%err, package = package.name, "a package couldn't be checked");
                }
            }
        }
        None
    }

    async fn reports(
        &self,
        package: &Package,
        cancel: &CancellationToken,
    ) -> Result<Vec<Report>, NetError> {
        let (longest, most) = KEPT;
        let kept = || self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((asked, reports)) = kept().get(package)
            && asked.elapsed() < longest
        {
            return Ok(reports.clone());
        }
        let answer = self.ask(package, cancel).await?;
        let reports = malicious(&answer);
        let mut kept = kept();
        if kept.len() >= most {
            kept.retain(|_, (asked, _)| asked.elapsed() < longest);
        }
        if kept.len() < most {
            kept.insert(package.clone(), (Instant::now(), reports.clone()));
        }
        Ok(reports)
    }

    async fn ask(&self, package: &Package, cancel: &CancellationToken) -> Result<Value, NetError> {
        let path = if self.endpoint.has_path() { "" } else { PATH };
        let (timeout, max_body) = LIMITS;
        let request = self
            .endpoint
            .post(path)
            .json(&question(package))
            .timeout(Some(timeout))
            .idle(timeout)
            .max_body(max_body);
        let response = self.client.send(request, cancel).await?;
        if !response.status.is_success() {
            let message = format!("{} answers {}", self.endpoint.as_str(), response.status);
            return Err(NetError::new(NetErrorKind::Protocol, &message));
        }
        response.json().await
    }
}

/// What is asked about a package.
fn question(package: &Package) -> Value {
    let mut question = Map::new();
    let name = json!({"name": package.name, "ecosystem": package.ecosystem.name()});
    question.insert("package".to_owned(), name);
    // `1` and `1.2` are ranges to npm: no version of that name is known to the database.
    let is_whole = |version: &str| {
        package.ecosystem != Ecosystem::Npm
            || version.split(['-', '+']).next().is_some_and(|it| it.matches('.').count() >= 2)
    };
    if let Some(version) = package.version.as_deref().filter(|version| is_whole(version)) {
        question.insert("version".to_owned(), version.into());
    }
    Value::Object(question)
}

/// The reports of malice in an answer.
fn malicious(answer: &Value) -> Vec<Report> {
    let (reports, chars) = TOLD;
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let found = answer.get("vulns").and_then(Value::as_array).into_iter().flatten();
    let found = found.filter(|report| text(report, "id").starts_with(MALICIOUS));
    found
        .take(reports)
        .map(|report| {
            let summary = text(report, "summary");
            // It is shown to people and models: one line, nothing that moves a cursor.
            let summary = summary.chars().map(|c| if c.is_control() { ' ' } else { c });
            let id = text(report, "id").chars().filter(|c| !c.is_control()).take(chars).collect();
            Report { id, summary: summary.take(chars).collect() }
        })
        .collect()
}
