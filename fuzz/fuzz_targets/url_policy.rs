//! Any text as a URL and as rules, any addresses as the answers of its name.

#![no_main]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hermes_guard::packages::fetched;
use hermes_guard::urls::address::{Verdict, verdict};
use hermes_guard::urls::website::WebsitePolicy;
use hermes_guard::urls::{
    Host, Target, UrlPolicy, always_blocked, holds_secret, normalize, sensitive_parameter,
    url_is_safe,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, u128, u32)| {
    let (url, rules, v6, v4) = input;
    let answers: Vec<IpAddr> = vec![Ipv6Addr::from_bits(v6).into(), Ipv4Addr::from_bits(v4).into()];
    let lookup = |name: &str| {
        assert!(!name.is_empty() && !name.ends_with('.') && name.is_ascii());
        assert_eq!(name, name.to_lowercase());
        answers.clone()
    };
    let deny = url_is_safe(url, &lookup, UrlPolicy { allow_private: false });
    let allow = url_is_safe(url, &lookup, UrlPolicy { allow_private: true });
    let floor = always_blocked(url, &lookup);
    assert!(allow.is_ok() || deny.is_err(), "allowing more forbids nothing");
    assert!(!floor || allow.is_err(), "the floor holds");
    if let Ok(target) = Target::parse(url) {
        // What is read is read again in the same way.
        let again = Target::parse(target.url().as_str()).expect("a URL as it is written is one");
        assert_eq!(target.host(), again.host());
        assert_ne!(target.port(), 0);
        if let Host::Address(ip) = target.host() {
            assert_eq!(deny.is_ok(), verdict(*ip) == Verdict::Public);
            assert_eq!(floor, verdict(*ip) == Verdict::Metadata);
        }
        // Mending it leads nowhere else.
        let normal = Target::parse(&normalize(url)).expect("a URL stays one");
        assert_eq!(target.host(), normal.host());
        // Written with all that a redirect may leave out, it is the same.
        let next = target.redirect(target.url().as_str()).expect("a redirect to itself");
        assert_eq!(target.host(), next.host());
        // A rule of its host is against it, whatever else is in it.
        let host = match target.host() {
            Host::Address(IpAddr::V6(ip)) => format!("[{ip}]"),
            host => host.to_string(),
        };
        let is_rule = !host.starts_with(['#', '*']) && !host.contains(char::is_whitespace);
        if is_rule && !host.starts_with("www.") && !host.ends_with('.') {
            assert!(WebsitePolicy::new([host.as_str()]).blocked(url).is_some(), "{host}");
        }
    }
    assert_eq!(normalize(&normalize(url)), normalize(url));
    let _ = WebsitePolicy::new(rules.lines()).blocked(url);
    let _ = (sensitive_parameter(url), holds_secret(url));
    let words: Vec<&str> = rules.split(' ').collect();
    for program in ["npx", "npm", "uvx", "uv", "pipx", "bunx", "yarn", url] {
        for package in fetched(program, &words).iter() {
            assert!(!package.name.is_empty() && package.name.is_ascii());
        }
    }
});
