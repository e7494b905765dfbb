//! Tests of masking.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(mode: Mode, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(&redact(text, mode), expected, "{text}");
    }
}

#[track_caller]
fn untouched(mode: Mode, texts: &[&str]) {
    for text in texts {
        let redacted = redact(text, mode);
        assert!(matches!(redacted, Cow::Borrowed(_)), "{redacted}");
        assert_eq!(&redacted, text);
    }
}

#[test]
fn tokens() {
    check(
        Mode::Code,
        &[
            ("key is sk-proj-abcdefghijklmnopqrstuvwx1234 ok", "key is sk-pro...1234 ok"),
            ("(ghp_abcdefghijklmnopqrstuvwxyz0123456789)", "(ghp_ab...6789)"),
            ("xoxb-1234567890-abcdefghij", "xoxb-1...ghij"),
            ("xapp-1-ABCDEFGHIJKLMN", "xapp-1...KLMN"),
            ("AKIAIOSFODNN7EXAMPLE.", "AKIAIO...MPLE."),
            ("ASIAIOSFODNN7EXAMPLE", "ASIAIO...MPLE"),
            ("SG.abcdefghij.klmnopqrst", "SG.abc...qrst"),
            ("fc-abcdefghij", "***"),
            ("a AccountKey=abcdefghijklmnopqrstuv== b", "a AccountKey=abcdef...uv== b"),
            ("123456789:AAHfiqksKZ8WbM0123456789abcdefghij", "123456789:AAHfiq...ghij"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEFghiJKLmno", "eyJhbG...Lmno"),
            ("call +12025550123 now", "call +120***0123 now"),
            ("call +1234567", "call +1***67"),
            ("sk-aaaaaaaaaa sk-bbbbbbbbbb", "*** ***"),
        ],
    );
    untouched(
        Mode::Log,
        &[
            "task-proj-abcdefghijklmnop",
            "sk-short",
            "AKIAIOSFODNN7EXAMPLEX",
            "1 + 12345678",
            "fc-list-of-fonts",
            "the token expired at noon",
            "note: secret meeting at 5",
            "12:30:45",
        ],
    );
    check(
        Mode::FileRead,
        &[
            ("token: ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token: «redacted:ghp_…»"),
            ("Authorization: Bearer sk-abcdefghijklmno", "Authorization: Bearer «redacted:sk-…»"),
        ],
    );
}

#[test]
fn private_keys() {
    let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\nb";
    check(
        Mode::Code,
        &[
            (key, "a\n[private key removed]\nb"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\ntruncated", "[private key removed]"),
            ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nx", "[private key removed]"),
        ],
    );
    untouched(Mode::Log, &["-----BEGIN PUBLIC KEY-----\nMIIabc\n-----END PUBLIC KEY-----"]);
}

#[test]
fn settings() {
    check(
        Mode::Log,
        &[
            ("OPENAI_API_KEY=zzz111yyy222xxx333www", "OPENAI_API_KEY=zzz111...3www"),
            ("ANTHROPIC_API_KEY=short", "ANTHROPIC_API_KEY=***"),
            (
                "export DB_PASSWORD = 'correct horse battery'",
                "export DB_PASSWORD = 'correc...tery'",
            ),
            ("A_TOKEN=\"a b\" B=2", "A_TOKEN=\"***\" B=2"),
            ("A_TOKEN=\"a \\\" b", "A_TOKEN=\"***"),
            ("spring.datasource.password=abc", "spring.datasource.password=***"),
            ("  password = abc", "  password = ***"),
            (
                "it is aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPx ok",
                "it is aws_secret_access_key=wJalrX.../bPx ok",
            ),
            ("--password=abc -v", "--password=*** -v"),
            ("body password=abc&x=1&token=d", "body password=***&x=1&token=***"),
            ("  password := \"a b\"", "  password := \"***\""),
            ("PASSWORD=a&b", "PASSWORD=***"),
            ("password: correct horse # x", "password: *** # x"),
            ("- api_key: \"abc\"", "- api_key: \"***\""),
            ("MAX_TOKENS=100", "MAX_TOKENS=***"),
        ],
    );
    untouched(
        Mode::Log,
        &[
            "API_KEY=os.getenv(\"X\")",
            "api_key: process.env.KEY",
            "GIT_AUTHOR_NAME=bob",
            "author: bob",
            "max_tokens: 4096",
            "token_count: 5",
            "max_tokens=4096",
            "token: null",
            "if TOKEN == x",
            "a token = b",
            "https://e.com/cb?code=abc123&token=1",
            "/cb?password=abc",
            "https://user:pass@e.com/",
            "PATH=/bin",
        ],
    );
    untouched(Mode::Code, &["MAX_TOKENS=100", "password = abc", "{\"password\": \"abc\"}"]);
}

#[test]
fn fields() {
    check(
        Mode::Log,
        &[
            ("{\"password\": \"hunter2hunter2hunter2\"}", "{\"password\": \"hunter...ter2\"}"),
            ("{\"apiKey\":\"a b\",\"x\":\"y\"}", "{\"apiKey\":\"***\",\"x\":\"y\"}"),
            ("{'client_secret': 'abc'}", "{'client_secret': '***'}"),
            ("\"{\\\"token\\\": \\\"abc\\\"}\"", "\"{\\\"token\\\": \\\"***\\\"}\""),
            ("{\"secret_value\": \"cut", "{\"secret_value\": \"***"),
        ],
    );
    untouched(Mode::Log, &["{\"token_type\": \"bearer\", \"author\": \"Bob\"}"]);
}

#[test]
fn headers() {
    check(
        Mode::Code,
        &[
            (
                "Authorization: Bearer abcdef0123456789abcdef0123",
                "Authorization: Bearer abcdef...0123",
            ),
            ("proxy-authorization: Basic dXNlcjpwdw==", "proxy-authorization: Basic ***"),
            ("authorization: abc", "authorization: ***"),
            (
                "-H \"Authorization: Bearer abc\" https://e.com",
                "-H \"Authorization: Bearer ***\" https://e.com",
            ),
            ("{\"Authorization\": \"Bearer abc\"}", "{\"Authorization\": \"Bearer ***\"}"),
            ("x-api-key: 0123456789abcdefABCDEF", "x-api-key: 012345...CDEF"),
            ("Cookie: a=1; sid=0123456789abcdefABCDEF", "Cookie: a=***; sid=012345...CDEF"),
            ("Set-Cookie: sid=1; Path=/; HttpOnly", "Set-Cookie: sid=***; Path=/; HttpOnly"),
        ],
    );
}

#[test]
fn addresses() {
    check(
        Mode::Log,
        &[
            ("postgres://bob:s3cr3tpw@db/x", "postgres://bob:***@db/x"),
            ("redis://:pw@h redis://:pw@h", "redis://:***@h redis://:***@h"),
            ("mongodb+srv://a:p@ss/w@h/d?x=y@z", "mongodb+srv://a:***@h/d?x=y@z"),
            ("mysql+pymysql://a:p@ss@h/d", "mysql+pymysql://a:***@h/d"),
            ("mssql://sa:{pw}@h", "mssql://sa:***@h"),
            ("https://supersecrettoken99@github.com/a", "https://supers...en99@github.com/a"),
            ("user=bob&password=opensesame&x=1", "user=bob&password=***&x=1"),
        ],
    );
    untouched(Mode::Code, &["mssql://sa:{pw}@h", "postgres://a:${PW}@h", "ssh://git@host/x"]);
    check(
        Mode::Egress,
        &[
            ("https://e.com/cb?code=abc123&state=1", "https://e.com/cb?code=***&state=1"),
            ("https://e.com/#access_token=abc", "https://e.com/#access_token=***"),
            ("https://e.com/?%2574oken=abc", "https://e.com/?%2574oken=***"),
            ("https://e.com/?next=%2Fa%3Ftoken%3Dabc", "https://e.com/?next=***"),
            ("https://bob:pw@e.com/", "https://bob:***@e.com/"),
        ],
    );
    untouched(Mode::Egress, &["https://e.com/?q=rust&page=2"]);
}

#[test]
fn glued_tokens() {
    const KEY: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
    for prefix in ["ghp_", "sk-proj-", "sk-ant-api03-", "AIza", "xoxb-1-", "github_pat_", "hf_"] {
        for before in [
            "foo",
            "my_",
            "a-",
            "\\n",
            "x\\t",
            "\\u003d",
            "%20",
            "?a%3D",
            "\u{1b}[1;31m",
            "0",
            "é",
            "\\\"",
        ] {
            let text = format!("{before}{prefix}{KEY}");
            for mode in [Mode::Log, Mode::Code, Mode::FileRead, Mode::Egress] {
                let shown = redact(&text, mode);
                assert!(!shown.contains(KEY.get(6..20).unwrap()), "{text} {shown}");
                assert!(shown.starts_with(before), "{text} {shown}");
            }
            assert!(holds_token(&text), "{text}");
        }
    }
    check(
        Mode::Log,
        &[
            ("fooAKIAIOSFODNN7EXAMPLE.", "fooAKIAIO...MPLE."),
            ("\\nAKIAIOSFODNN7EXAMPLE\\n", "\\nAKIAIO...MPLE\\n"),
            ("xeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEFghiJKLmno", "xeyJhbG...Lmno"),
        ],
    );
    check(Mode::FileRead, &[("fooAKIAIOSFODNN7EXAMPLE", "foo«redacted:AKIA…»")]);
    untouched(
        Mode::Log,
        &[
            "task-proj-abcdefghijklmnop",
            "task-proj-2024-01-02-and-more-of-it",
            "task-management-and-planning",
            "docs/risk-assessment-template-2024",
            "my_npm_package_lock_version_3",
            "the_hf_text_embeddings_inference_1",
            "FOOAKIAIOSFODNN7EXAMPLE",
        ],
    );
    assert!(!holds_token("how to get an api key"));
}

#[test]
fn headers_that_look_like_settings() {
    check(
        Mode::Log,
        &[
            ("proxy-authorization=Basic dXNlcjpwYXNz", "proxy-authorization=Basic ***"),
            ("HTTP_AUTHORIZATION=Bearer abcdefghij", "HTTP_AUTHORIZATION=Bearer ***"),
            (
                "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/s3, Signature=fe5f80fe5f80 x a=b",
                "Authorization: AWS4-HMAC-SHA256 Creden...5f80 x a=b",
            ),
            ("PRIVATE_KEY=abc ACCESS_KEY='a b'", "PRIVATE_KEY=*** ACCESS_KEY='***'"),
        ],
    );
}

#[test]
fn addresses_in_all_their_forms() {
    check(
        Mode::Log,
        &[
            ("git+ssh://git:hunter22@h/d", "git+ssh://git:***@h/d"),
            ("mqtt://u:hunter22@h", "mqtt://u:***@h"),
            ("xpostgres:\\/\\/u:hunter22@h\\/d", "xpostgres:\\/\\/u:***@h\\/d"),
            ("https://tokentoken:@e.com/x", "https://***:@e.com/x"),
            ("redis://h:6379/0?password=hunter22", "redis://h:6379/0?password=***"),
            ("jdbc:mysql://h/d?user=a&password=hunter22", "jdbc:mysql://h/d?user=a&password=***"),
        ],
    );
    untouched(Mode::Log, &["https://bob:hunter22@e.com/?password=x&token=y"]);
    check(
        Mode::Egress,
        &[
            ("urlhttps://bob:hunter22@e.com", "urlhttps://bob:***@e.com"),
            ("https://bob:p@ss:w@e.com/a@b", "https://bob:***@e.com/a@b"),
            ("//bob:hunter22@e.com/", "//bob:***@e.com/"),
            ("https:\\\\bob:hunter22@e.com", "https:\\\\bob:***@e.com"),
            ("{\"u\":\"https:\\/\\/b:hunter22@e.com\"}", "{\"u\":\"https:\\/\\/b:***@e.com\"}"),
            (
                "https%3A%2F%2Fe.com%2F%3Ftoken%3Dhunter22%26a%3Db",
                "https%3A%2F%2Fe.com%2F%3Ftoken%3D***%26a%3Db",
            ),
            (
                "u=https%253A%252F%252Fbob%253Ahunter22%2540e.com",
                "u=https%253A%252F%252Fbob%253A***%2540e.com",
            ),
        ],
    );
    untouched(Mode::Egress, &["http://a:80/x@y", "// a: b@c", "50%3D50", "%3Fq%3Drust%26page%3D2"]);
}

#[test]
fn streams_are_cut_between_lines() {
    assert_eq!(flushable("no line"), 0);
    assert_eq!(flushable("a\nTOKEN=ab"), 2);
    assert_eq!(flushable("a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n"), 2);
    assert_eq!(flushable("-----BEGIN X-----\nabc\n-----END X-----\nx"), 38);
}

#[test]
fn hostile_texts_end() {
    for part in [
        "TOKEN=",
        "a=1&password=",
        "\"password\":",
        "eyJ",
        "://a:",
        "?token=",
        "-----BEGIN RSA PRIVATE KEY-----",
        "Cookie:",
        "Authorization: ",
        "token: ",
        "a token = b ",
        "x_token=a&",
        "x_token=&&&&",
        "Cookie: a=b;",
        "ghp_",
        "eyJeyJ.eyJ.",
        "//a:",
        ":\\/\\/a:b@",
        "%3A%2F%2Fa%3A",
        "%3Ftoken%3D",
        "Authorization: a b=c, d=e, ",
        "postgres://",
    ] {
        for mode in [Mode::Log, Mode::Egress] {
            let _ = redact(&part.repeat(5_000), mode);
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "([a-z]{0,3}(TOKEN|=|&|\\?|\"|'|://|@|:|\\\\|é|\n| |sk-){0,3}){0,12}") {
        for mode in [Mode::Log, Mode::Code, Mode::FileRead, Mode::Egress] {
            let _ = redact(&text, mode);
        }
    }

    #[test]
    fn a_secret_never_shows(secret in "[A-Za-z0-9]{24,60}", name in "[A-Z]{0,5}_(TOKEN|SECRET)") {
        for text in [
            format!("{name}={secret}"),
            format!("{name}=\"{secret}\""),
            format!("{{\"password\": \"{secret}\"}}"),
            format!("x: Authorization: Bearer {secret}"),
            format!("redis://:{secret}@h"),
        ] {
            prop_assert!(!redact(&text, Mode::Log).contains(secret.get(6..16).unwrap()), "{}", text);
        }
    }
}

#[test]
fn what_is_hidden_in_a_file_is_a_marker_and_keeps_its_lines() {
    let key = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nb\n";
    for text in [
        key,
        "a\n-----BEGIN PRIVATE KEY-----\nMIIE\n",
        "postgres://u:hunter22@h/db\n",
        "https://tokentoken@h/\n",
        "Authorization: Bearer abcdefghijklmnop\nx-api-key: abcdefghijkl\n",
        "Cookie: session=abcdefgh; path=/\n",
        "123456789:abcdefghijklmnopqrstuvwxyz0123456789\n",
        "call +14155550123\n",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef\n",
        "AccountKey=abcdefghijklmnop\n",
        "user=a&password=hunter22",
    ] {
        let shown = redact(text, Mode::FileRead);
        assert!(shown.contains("«redacted:"), "{text} {shown}");
        assert!(!shown.contains("***") && !shown.contains("..."), "{shown}");
        assert_eq!(shown.matches('\n').count(), text.matches('\n').count(), "{shown}");
        assert_eq!(redact(&shown, Mode::FileRead), shown);
    }
}
