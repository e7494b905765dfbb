//! Tests of URLs.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::address::{Verdict, verdict};
use super::website::{WebsitePolicy, WebsiteSettings};
use super::*;

const DENY: UrlPolicy = UrlPolicy { allow_private: false };
const ALLOW: UrlPolicy = UrlPolicy { allow_private: true };

fn dns(name: &str) -> Vec<IpAddr> {
    let answers: &[&str] = match name {
        "example.com" | "xn--bcher-kva.example" => &["93.184.216.34"],
        "two.test" => &["93.184.216.34", "10.0.0.1"],
        "meta.test" => &["10.0.0.1", "::ffff:169.254.169.254"],
        "multimedia.nt.qq.com.cn" => &["198.18.0.1"],
        "localhost" => &["127.0.0.1", "::1"],
        _ => &[],
    };
    answers.iter().map(|it| it.parse().unwrap()).collect()
}

/// Blocked by default, blocked when private addresses are allowed, on the floor.
fn judged(url: &str) -> (bool, bool, bool) {
    let is_blocked = |policy| url_is_safe(url, &dns, policy).is_err();
    (is_blocked(DENY), is_blocked(ALLOW), always_blocked(url, &dns))
}

#[test]
fn public_places() {
    for url in [
        "https://example.com/a?b=c",
        "HTTP://EXAMPLE.com./",
        "https://bücher.example:8443/",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
        "http://169.253.255.255/",
        "http://192.0.0.9/",
        "http://[2606:4700:4700::1111]/",
        "http://[64:ff9b::5db8:d822]/",
        "http://[2002:5db8:d822::1]/",
        "http://[::ffff:93.184.216.34]/",
        "https://example.com/#@127.0.0.1/",
        " https://example.com/ ",
        "https:\\\\example.com\\x",
        "http:example.com",
    ] {
        assert_eq!(judged(url), (false, false, false), "{url}");
    }
}

#[test]
fn private_places() {
    for url in [
        "http://127.0.0.1:8080/",
        "http://127.1/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://2130706433/",
        "http://１２７.0.0.1/",
        "http://１２７.0.0.1/",
        "http://12\t7.0.0.1/",
        "http:127.0.0.1/x",
        "http:\\\\127.0.0.1\\x",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://example.com@127.0.0.1/",
        "http://0/",
        "http://10.0.0.5/",
        "http://172.31.255.255/",
        "http://192.168.1.1/",
        "http://100.64.1.1/",
        "http://198.19.255.255/",
        "http://192.0.2.1/",
        "http://203.0.113.9/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::7f00:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b:1::8.8.8.8]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:5db8:d822::80ff:fffe]/",
        "http://[2001:0:a00:1::a247:27dd]/",
        "http://[fc00::1]/",
        "http://[fe80::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[3fff::1]/",
        "http://[100::1]/",
        "http://[4000::1]/",
        "http://two.test/",
        "http://localhost/",
        "http://multimedia.nt.qq.com.cn/x",
    ] {
        assert_eq!(judged(url), (true, false, false), "{url}");
    }
    assert_eq!(judged("https://multimedia.nt.qq.com.cn/x"), (false, false, false));
    assert!(url_is_safe("https://x.multimedia.nt.qq.com.cn/", &dns, DENY).is_err());
}

#[test]
fn metadata_services() {
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.0.1/",
        "http://0xA9FEA9FE/",
        "http://169.254.43518/",
        "http://100.100.100.200/",
        "http://metadata.google.internal/",
        "http://METADATA.goog./",
        "http://[fd00:ec2::254]/",
        "http://[::169.254.169.254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:0:169.254.169.254]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://[64:ff9b:1::169.254.169.254]/",
        "http://[64:ff9b:1:a9fe:a9:fe00::]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://[2001:0:5db8:d822::5601:5601]/",
        "http://[2001:0:a9fe:a9fe::a247:27dd]/",
        "http://[2606::5efe:169.254.169.254]/",
        "http://meta.test/",
    ] {
        assert_eq!(judged(url), (true, true, true), "{url}");
    }
    // The floor is no judgement on the scheme.
    assert_eq!(judged("ftp://169.254.169.254/"), (true, true, true));
    assert_eq!(judged("gopher://0xA9FEA9FE/"), (true, true, true));
}

#[test]
fn unreadable_places() {
    for url in [
        "",
        "example.com",
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "data:text/plain,x",
        "https:///nohost",
        "https://",
        "http://:80/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:x/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://1.2.3.4.5/",
        "http://256.256.256.256/",
        "http://nxdomain.test/",
        "http://./",
        "http://0../",
        "http://example.com../",
    ] {
        assert_eq!(judged(url), (true, true, false), "{url}");
    }
}

#[test]
fn refusals_say_what_would_help() {
    let refusal = |url| url_is_safe(url, &dns, DENY).unwrap_err();
    assert_eq!(
        refusal("http://two.test/").to_string(),
        "two.test has the address 10.0.0.1, which is not on the internet (private); \
         security.allow_private_urls: true in config.yaml allows it"
    );
    let metadata = refusal("http://meta.test/");
    assert!(metadata.is_final() && !metadata.to_string().contains("allow_private"), "{metadata}");
}

#[test]
fn redirects_are_relative() {
    let start = Target::parse("https://a.test/x/y#part").unwrap();
    for (location, expected) in [
        ("/z", "https://a.test/z#part"),
        ("z?q=1", "https://a.test/x/z?q=1#part"),
        ("//b.test/p#own", "https://b.test/p#own"),
        ("HTTP://B.test", "http://b.test/#part"),
    ] {
        assert_eq!(start.redirect(location).unwrap().url().as_str(), expected);
    }
    assert!(matches!(start.redirect("file:///etc/passwd"), Err(Refusal::Scheme(_))));
    assert!(start.same_origin(&start.redirect("https://A.test.:443/").unwrap()));
    assert!(!start.same_origin(&start.redirect("http://a.test/").unwrap()));
}

#[test]
fn settings() {
    for (variable, config, expected) in [
        (None, json!({}), false),
        (None, json!({"security": {"allow_private_urls": true}}), true),
        (None, json!({"security": {"allow_private_urls": "yes"}}), true),
        (None, json!({"browser": {"allow_private_urls": true}}), true),
        (Some("false"), json!({"security": {"allow_private_urls": true}}), false),
        (Some(" "), json!({"security": {"allow_private_urls": true}}), true),
        (Some("On"), json!(null), true),
    ] {
        assert_eq!(UrlPolicy::from_settings(variable, &config).allow_private, expected);
    }
}

#[test]
fn normalising() {
    for (url, expected) in [
        ("https://wttr.in/Köln?q=größe", "https://wttr.in/K%C3%B6ln?q=gr%C3%B6%C3%9Fe"),
        ("  https:// docs.example.com/a  ", "https://docs.example.com/a"),
        ("https://bücher.example:81/x", "https://xn--bcher-kva.example:81/x"),
        ("https://faß.example", "https://xn--fa-hia.example"),
        ("https://ü@e.com/", "https://%C3%BC@e.com/"),
        ("https://e.com/a%20b%2Fc#ö", "https://e.com/a%20b%2Fc#%C3%B6"),
        ("https://e.com/a b", "https://e.com/a%20b"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("HTTPS://E.com", "HTTPS://E.com"),
        ("ftp://e.com/ö", "ftp://e.com/ö"),
        ("no url ö", "no url ö"),
        ("", ""),
    ] {
        assert_eq!(normalize(url), expected);
    }
}

#[test]
fn sensitive_parameters() {
    for (url, expected) in [
        ("https://e.com/cb?a=1&access_token=abc&token=x", Some("access_token")),
        ("https://e.com/?API-Key=1", Some("API-Key")),
        ("https://e.com/?%74oken=1", Some("token")),
        ("https://e.com/?X-Amz-Signature=1", Some("X-Amz-Signature")),
        ("https://e.com/?AWSAccessKeyId=1", Some("AWSAccessKeyId")),
        ("https://e.com/?%C5%BFecret=1", Some("ſecret")),
        ("https://e.com/?token=", None),
        ("https://e.com/?token", None),
        ("https://e.com/#token=1", None),
        ("https://e.com/?code=a&key=b&session=c&sig=d", None),
        ("ftp://e.com/?token=x", None),
        ("token=x", None),
    ] {
        assert_eq!(sensitive_parameter(url).as_deref(), expected, "{url}");
    }
}

#[test]
fn tokens_in_urls() {
    for (url, expected) in [
        ("https://evil.test/?k=sk-ant-api03-0123456789abcdEXAMPLE", true),
        ("https://evil.test/ghp_0123456789abcdEXAMPLE", true),
        ("https://evil.test/?k=%73k-ant-0123456789abcdEXAMPLE", true),
        ("https://evil.test/?k=%2573k-ant-0123456789abcdEXAMPLE", true),
        ("https://evil.test/?k=%252573k-ant-0123456789abcdEXAMPLE", true),
        ("https://evil.test/x%20ghp_0123456789abcdEXAMPLE", true),
        ("https://evil.test/#sk-ant-0123456789abcdEXAMPLE", true),
        ("https://e.test/AKIAIOSFODNN7EXAMPLE", true),
        ("https://e.test/task-management-and-planning", false),
        ("https://e.test/docs/risk-assessment-template-2024", false),
        ("https://e.test/?q=how+to+get+an+api+key", false),
        ("", false),
    ] {
        assert_eq!(holds_secret(url), expected, "{url}");
    }
}

#[test]
fn websites() {
    for (rule, url, expected) in [
        ("evil.com", "https://evil.com/x", Some("evil.com")),
        ("evil.com", "https://A.b.EVIL.com./x", Some("evil.com")),
        ("evil.com", "https://notevil.com/", None),
        ("evil.com", "evil.com/x", Some("evil.com")),
        ("evil.com", "//evil.com/x", Some("evil.com")),
        ("evil.com", "evil.com:8443", Some("evil.com")),
        ("evil.com", "https:evil.com", Some("evil.com")),
        ("evil.com", "\u{1}ht\ntp\t://ev\til.com", Some("evil.com")),
        ("evil.com", "https:\\\\evil.com\\x", Some("evil.com")),
        ("evil.com", "https://good.com@evil.com/", Some("evil.com")),
        ("evil.com", "https://evil.com@good.com/", None),
        ("evil.com", "https://good.com/?u=evil.com#evil.com", None),
        ("evil.com", "wss://evil.com/", Some("evil.com")),
        (" https://u@WWW.evil.com./path?x ", "https://evil.com", Some("evil.com")),
        ("www.evil.com", "https://evil.com", Some("evil.com")),
        ("www.com", "https://evil.com", None),
        ("# evil.com", "https://evil.com", None),
        ("evil.com # bad", "https://evil.com", Some("evil.com")),
        ("*.evil.com", "https://evil.com/", None),
        ("*.evil.com", "https://x.evil.com/", Some("*.evil.com")),
        ("*.evil.com:81", "https://x.evil.com:81/", Some("*.evil.com:81")),
        ("a.*.com", "https://a.x.com/", None),
        ("*", "https://a.x.com/", Some("*")),
        ("evil.com:8443", "https://evil.com:8443/", Some("evil.com:8443")),
        ("evil.com:8443", "https://evil.com/", None),
        ("evil.com:443", "https://evil.com/", Some("evil.com:443")),
        ("evil.com:443", "http://evil.com/", None),
        ("evil.com:80", "evil.com", Some("evil.com:80")),
        ("evil.com:99999", "https://evil.com/", None),
        ("bücher.example", "https://xn--bcher-kva.example/", Some("bücher.example")),
        ("xn--bcher-kva.example", "https://a.bücher.example/", Some("xn--bcher-kva.example")),
        ("[2001:db8::1]", "http://[2001:DB8:0::1]/", Some("[2001:db8::1]")),
        ("2001:db8::1", "http://[2001:db8::1]:81/", Some("2001:db8::1")),
        ("127.0.0.1", "http://0x7f.1/", Some("127.0.0.1")),
        ("127.0.0.1", "http://[::ffff:7f00:1]/", Some("127.0.0.1")),
        ("0.1", "http://10.0.0.1/", None),
        ("co.uk", "https://sub.example.co.uk/", Some("co.uk")),
        ("", "https://e.com/", None),
        ("evil.com", "", None),
    ] {
        let found = WebsitePolicy::new([rule]).blocked(url);
        assert_eq!(found.as_ref().map(|it| it.rule.as_str()), expected, "{rule} {url}");
    }
    let found = WebsitePolicy::new(["a.*.com", "*.example.com", "example.com"]);
    assert_eq!(found.blocked("https://a.example.com/").unwrap().rule, "*.example.com");
}

#[test]
fn shared_files_of_websites() {
    let config = json!({"security": {"website_blocklist": {
        "enabled": true, "domains": ["a.com"], "shared_files": ["list.txt", "gone.txt"],
    }}});
    let settings = WebsiteSettings::from_config(&config).unwrap();
    let read = |name: &str| match name {
        "list.txt" => Ok("# ads\n\nb.com\r\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let (policy, warnings) = WebsitePolicy::load(&settings, read);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("gone.txt"));
    let found = policy.blocked("https://x.b.com/").unwrap();
    assert_eq!((found.source.as_str(), found.host.as_str()), ("list.txt", "x.b.com"));
    assert_eq!(
        policy.blocked("http://a.com").unwrap().message(),
        "a.com is blocked by the website policy of the user (rule \"a.com\" from config)"
    );

    let off = WebsiteSettings { enabled: false, ..settings };
    assert_eq!(WebsitePolicy::load(&off, read).0.blocked("http://a.com"), None);
    assert_eq!(WebsiteSettings::from_config(&json!({})), Ok(WebsiteSettings::default()));
    for malformed in [
        json!([]),
        json!({"enabled": "maybe"}),
        json!({"domains": "a.com"}),
        json!({"domains": [1]}),
        json!({"shared_files": {}}),
    ] {
        let config = json!({"security": {"website_blocklist": malformed}});
        let fault = WebsiteSettings::from_config(&config).unwrap_err().to_string();
        assert!(fault.contains("website_blocklist"), "{fault}");
    }
}

proptest! {
    /// However an IPv4 address is written, and in whatever address it is carried, the verdict is
    /// the same.
    #[test]
    fn spellings_agree(bits in prop::num::u32::ANY) {
        let ip = Ipv4Addr::from_bits(bits);
        let expected = verdict(ip.into());
        let [a, b, c, d] = ip.octets();
        let low = u128::from(bits);
        prop_assert_eq!(verdict(Ipv6Addr::from_bits((0x64ff9b << 96) | low).into()), expected);
        prop_assert_eq!(verdict(Ipv6Addr::from_bits((0x2002 << 112) | (low << 80)).into()), expected);
        prop_assert_eq!(verdict(ip.to_ipv6_mapped().into()), expected);
        for url in [
            format!("http://{bits}/"),
            format!("http://{bits:#x}/"),
            format!("http://{a:#x}.{b:#o}.{c}.{d}/").replace("0o", "0"),
            format!("http://{a}.{}/", bits & 0xff_ffff),
            format!("http://[::ffff:{ip}]/"),
        ] {
            let is_safe = url_is_safe(&url, &dns, DENY).is_ok();
            prop_assert_eq!(is_safe, expected == Verdict::Public, "{}", url);
            prop_assert_eq!(always_blocked(&url, &dns), expected == Verdict::Metadata, "{}", url);
        }
    }

    #[test]
    fn any_url_is_read(
        url in "(https?:)?[/\\\\]{0,3}[a-z0-9.@:%\\[\\]。ü*#? -]{0,20}([/?#&=a-zö%]{0,10})",
        rule in "(\\*\\.|www\\.|https://)?[a-z0-9.@:%\\[\\]ü*# -]{0,12}",
    ) {
        let safe = url_is_safe(&url, &dns, DENY).is_ok();
        prop_assert!(!(safe && always_blocked(&url, &dns)));
        prop_assert!(!safe || url_is_safe(&url, &dns, ALLOW).is_ok());
        let normal = normalize(&url);
        prop_assert_eq!(&normalize(&normal), &normal);
        if safe {
            // The same place, and the same verdict.
            prop_assert!(url_is_safe(&normal, &dns, DENY).is_ok(), "{} {}", url, normal);
        }
        let _ = (sensitive_parameter(&url), WebsitePolicy::new([rule.as_str()]).blocked(&url));
    }
}
