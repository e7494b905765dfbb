//! URLs, websites and packages.

use std::net::IpAddr;

use hermes_guard::packages::fetched;
use hermes_guard::urls::website::WebsitePolicy;
use hermes_guard::urls::{self, UrlPolicy};
use serde_json::{Value, json};

use super::{Binding, list, text};

pub(crate) const AREA: &[(&str, Binding)] = &[
    ("osv_package", Binding::Actual(osv_package)),
    ("url_is_safe", Binding::Actual(url_is_safe)),
    ("url_sensitive_param", Binding::Actual(url_sensitive_param)),
    ("website_policy", Binding::Actual(website_policy)),
];

fn url_is_safe(input: &Value) -> Result<Value, String> {
    let url = text(input, "url")?;
    let allow_private = input.get("allow_private").and_then(Value::as_bool).unwrap_or(false);
    let lookup = |name: &str| answers(input, name);
    let refusal = urls::url_is_safe(url, &lookup, UrlPolicy { allow_private }).err();
    Ok(json!({
        "safe": refusal.is_none(),
        "always_blocked": urls::always_blocked(url, &lookup),
        "refusal": refusal.map(|refusal| refusal.to_string()),
    }))
}

/// The answers of the case's DNS, whose names may be written in any way.
fn answers(input: &Value, name: &str) -> Vec<IpAddr> {
    let is_name = |key: &str| {
        let host = urls::Target::parse(&format!("http://{key}/"));
        host.is_ok_and(|target| target.host().to_string() == name)
    };
    let names = input.get("dns").and_then(Value::as_object).into_iter().flatten();
    let found = names.filter(|(key, _)| is_name(key)).filter_map(|(_, answers)| answers.as_array());
    let texts = found.flatten().filter_map(Value::as_str);
    // An address of an interface has the interface's name behind it.
    texts.filter_map(|text| text.split('%').next()?.parse().ok()).collect()
}

fn url_sensitive_param(input: &Value) -> Result<Value, String> {
    Ok(json!({"name": urls::sensitive_parameter(text(input, "url")?)}))
}

fn website_policy(input: &Value) -> Result<Value, String> {
    let domains = list(input, "domains")?.iter().filter_map(Value::as_str);
    let blocked = WebsitePolicy::new(domains).blocked(text(input, "url")?);
    Ok(match blocked {
        None => json!({"blocked": false, "rule": null}),
        Some(found) => json!({
            "blocked": true,
            "url": found.url,
            "host": found.host,
            "rule": found.rule,
            "source": found.source,
            "message": found.message(),
        }),
    })
}

fn osv_package(input: &Value) -> Result<Value, String> {
    let arguments: Vec<&str> = list(input, "args")?.iter().filter_map(Value::as_str).collect();
    let package = fetched(text(input, "command")?, &arguments).main;
    Ok(match package {
        None => json!({"ecosystem": null, "name": null, "version": null}),
        Some(package) => json!({
            "ecosystem": package.ecosystem.name(),
            "name": package.name,
            "version": package.version,
        }),
    })
}
