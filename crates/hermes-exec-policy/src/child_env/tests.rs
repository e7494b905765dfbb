//! What is passed on, from the request to the variables.

use std::fs;
use std::sync::Arc;

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const HELPER: Purpose = Purpose::Helper { inherit_credentials: false };

fn names(env: &ChildEnv) -> Vec<&str> {
    env.vars.keys().map(String::as_str).filter(|name| *name != "PATH").collect()
}

fn run(process: &[(&str, &str)], request: &Request<'_>) -> ChildEnv {
    ChildEnv::new(&map(process), &Blocklist::default(), request)
}

#[test]
fn secrets_stay_behind_in_any_case_of_letters() {
    for name in [
        "OPENAI_API_KEY",
        "openai_api_key",
        "AZURE_OPENAI_API_KEY",
        "SLACK_SIGNING_SECRET",
        "GITHUB_APP_ANYTHING",
        "TOOL_GATEWAY_NEW",
        "AUXILIARY_NEW_API_KEY",
        "Auxiliary_X_Base_Url",
        "GATEWAY_RELAY_SECRET",
        "VIRTUAL_ENV",
        "conda_prefix",
    ] {
        for purpose in [Purpose::Foreground, Purpose::Background, HELPER] {
            let env = run(&[(name, "v")], &Request { purpose, ..Request::default() });
            assert!(!env.vars.contains_key(name), "{name}");
            assert_eq!(env.dropped.len(), 1, "{name}");
        }
    }
    for name in [
        "AWS_ACCESS_KEY_ID",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "NOTION_TOKEN",
        "GATEWAY_RELAY_URL",
        "AUXILIARY_VISION_MODEL",
        "GATEWAY_RELAY_SECRET_X",
        "SSH_AUTH_SOCK",
    ] {
        assert_eq!(names(&run(&[(name, "v")], &Request::default())), [name]);
    }
}

#[test]
fn only_the_caller_can_force_a_name() {
    let extra = map(&[
        ("_HERMES_FORCE_GROQ_API_KEY", "g"),
        ("_HERMES_FORCE_AUXILIARY_Q_API_KEY", "a"),
        ("_HERMES_FORCE_CONDA_PREFIX", "c"),
        ("_HERMES_FORCE_", "n"),
        ("_hermes_force_XAI_API_KEY", "x"),
        ("MISTRAL_API_KEY", "m"),
        ("EXTRA", "e"),
    ]);
    for purpose in [Purpose::Foreground, HELPER] {
        let request = Request { purpose, extra: extra.clone(), ..Request::default() };
        let env = run(
            &[("_HERMES_FORCE_OPENAI_API_KEY", "o"), ("GROQ_API_KEY", "own"), ("EXTRA", "own")],
            &request,
        );
        assert_eq!(names(&env), ["EXTRA", "GROQ_API_KEY"]);
        assert_eq!((&*env.vars["EXTRA"], &*env.vars["GROQ_API_KEY"]), ("e", "g"));
        let dropped: Vec<_> = env.dropped.iter().map(|it| (&*it.name, it.reason)).collect();
        assert_eq!(
            dropped,
            [
                ("", Reason::Malformed),
                ("AUXILIARY_Q_API_KEY", Reason::Secret),
                ("CONDA_PREFIX", Reason::Surroundings),
                ("MISTRAL_API_KEY", Reason::Blocked),
                ("_HERMES_FORCE_OPENAI_API_KEY", Reason::Forced),
                ("_hermes_force_XAI_API_KEY", Reason::Forced),
            ]
        );
    }
}

#[test]
fn helpers_get_credentials_when_they_ask_and_tokens_never() {
    let process = [
        ("OPENAI_API_KEY", "o"),
        ("SLACK_SIGNING_SECRET", "s"),
        ("GITHUB_APP_X", "g"),
        ("AUXILIARY_A_API_KEY", "a"),
        ("EMAIL_PASSWORD", "e"),
    ];
    for (inherit_credentials, expected) in [(false, &[] as &[&str]), (true, &["OPENAI_API_KEY"])] {
        let purpose = Purpose::Helper { inherit_credentials };
        let env = run(&process, &Request { purpose, ..Request::default() });
        assert_eq!(names(&env), expected);
    }
}

#[test]
fn a_session_is_nobody_else() {
    let process = [
        ("HERMES_SESSION_KEY", "theirs"),
        ("HERMES_SESSION_USER_ID", "bob"),
        ("hermes_session_chat_id", "c"),
        ("HERMES_OTHER", "x"),
    ];
    let session = SessionVars::new([("HERMES_SESSION_KEY", "ours"), ("PATH", "/evil")]);
    let alone = run(&process, &Request { session: session.clone(), ..Request::default() });
    assert_eq!(alone.vars["HERMES_SESSION_KEY"], "ours");
    assert_eq!(alone.vars["HERMES_SESSION_USER_ID"], "bob");
    assert!(!alone.vars["PATH"].contains("evil"));

    let session = session.multi_session(true);
    let extra = map(&[("HERMES_SESSION_CHAT_NAME", "n")]);
    let many = run(&process, &Request { session, extra, ..Request::default() });
    assert_eq!(names(&many), ["HERMES_OTHER", "HERMES_SESSION_KEY"]);
    assert_eq!(many.vars["HERMES_SESSION_KEY"], "ours");
}

#[test]
fn homes_follow_the_mode() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    fs::create_dir(dir.path().join("home")).unwrap();
    let profile = dir.path().join("home").display().to_string();
    let homes = |mode, in_container, hermes_home: &Path, process: &[(&str, &str)]| {
        let hermes_home = Some(hermes_home);
        let rule = HomeRule { mode, in_container, hermes_home, user_home: Some("/u") };
        let homes = Homes::of(&map(process), &rule);
        (homes.home.unwrap(), homes.real.unwrap())
    };
    let own = [("HOME", "/h")];
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    for (mode, in_container, hermes_home, process, expected) in [
        (HomeMode::Auto, false, dir.path(), &own[..], pair("/h", "/h")),
        (HomeMode::Auto, true, dir.path(), &own, pair(&profile, "/h")),
        (HomeMode::Auto, true, &missing, &own, pair("/h", "/h")),
        (HomeMode::Profile, false, dir.path(), &own, pair(&profile, "/h")),
        (HomeMode::Profile, false, &missing, &own, pair("/h", "/h")),
        (HomeMode::Real, true, dir.path(), &own, pair("/h", "/h")),
        (HomeMode::Auto, false, dir.path(), &[("HOME", &profile)], pair("/u", "/u")),
        (HomeMode::Real, false, dir.path(), &[("HERMES_REAL_HOME", "/r")], pair("/r", "/r")),
        (HomeMode::Auto, false, &missing, &[], pair("/u", "/u")),
    ] {
        assert_eq!(homes(mode, in_container, hermes_home, process), expected, "{mode:?}");
    }
    let home = HomeRule { hermes_home: Some(dir.path()), ..HomeRule::default() };
    let env = run(&[("HERMES_HOME", "/other")], &Request { home, ..Request::default() });
    assert_eq!(env.vars["HERMES_HOME"], dir.path().display().to_string());
}

#[test]
fn a_path_is_put_in_order() {
    let usual = &repair_path("", None);
    for (path, dir, expected) in [
        ("/a::/b:/a", None, format!("/a:/b:{usual}")),
        ("::", Some("/p"), format!("/p:{usual}")),
        ("/a:/p", Some("/p"), format!("/a:/p:{usual}")),
        ("/bin", None, format!("/bin:{}", usual.trim_end_matches(":/bin"))),
        ("", Some("/x:y"), usual.to_owned()),
    ] {
        assert_eq!(repair_path(path, dir.map(Path::new)), expected, "{path}");
    }
}

#[test]
fn background_output_is_not_held_back() {
    let request = Request { purpose: Purpose::Background, ..Request::default() };
    assert_eq!(run(&[], &request).vars["PYTHONUNBUFFERED"], "1");
    assert_eq!(run(&[("PYTHONUNBUFFERED", "")], &request).vars["PYTHONUNBUFFERED"], "");
}

#[test]
fn names_declared_by_tools_are_blocked_but_for_what_is_kept() {
    let blocklist = Blocklist::new(["new_tool_key", "AWS_PROFILE", " ", "PATH"]);
    assert!(blocklist.contains("NEW_TOOL_KEY") && blocklist.contains("openai_api_key"));
    assert!(!blocklist.contains("AWS_PROFILE") && !blocklist.contains("PATH"));
}

#[test]
fn no_key_of_the_catalogue_is_missing() {
    let known = Blocklist::default();
    let mut credentials = hermes_toolsets::credentials::Credentials::builtin();
    assert_eq!(known.clone().with_credentials(&credentials).len(), known.len());
    assert!(!known.contains("NOTION_API_KEY"));
    credentials.add(hermes_toolsets::credentials::provider_env("NEW_PROVIDER_API_KEY", None));
    assert!(known.with_credentials(&credentials).contains("NEW_PROVIDER_API_KEY"));
}

#[test]
fn passthrough_is_per_session_and_unlocks_nothing() {
    let blocklist = Arc::new(Blocklist::new(["TOOL_KEY"]));
    let passthrough = Passthrough::new(blocklist, [" MINE ", "OPENAI_API_KEY"]);
    let found = passthrough.register(
        "a",
        ["NOTION_TOKEN", " X ", "", "tool_key", "AUXILIARY_A_API_KEY", "A-B", "1X", "X=Y", "é"]
            .into_iter()
            .chain(["_HERMES_FORCE_X", "HERMES_SESSION_KEY", "GITHUB_APP_Z"]),
    );
    assert_eq!(Vec::from_iter(found.accepted), ["NOTION_TOKEN", "X"]);
    assert_eq!(found.refused.len(), 9);
    assert!(passthrough.allows("a", "X") && passthrough.allows("b", "MINE"));
    assert!(!passthrough.allows("b", "X") && !passthrough.allows("a", "OPENAI_API_KEY"));
    assert_eq!(Vec::from_iter(passthrough.names("a")), ["MINE", "NOTION_TOKEN", "X"]);
    passthrough.forget("a");
    assert!(!passthrough.allows("a", "X"));
}

proptest! {
    #[test]
    fn nothing_on_the_blocklist_comes_through(
        process in proptest::collection::btree_map("[A-Za-z_=\0]{0,12}|_HERMES_FORCE_[A-Z]{1,5}|OPENAI_API_KEY|xai_api_key", ".*", 0..12),
        extra in proptest::collection::btree_map("[A-Za-z_]{0,12}|Groq_Api_Key", ".*", 0..6),
    ) {
        let blocklist = Blocklist::default();
        let request = Request { extra, ..Request::default() };
        let env = ChildEnv::new(&process, &blocklist, &request);
        for (name, value) in &env.vars {
            prop_assert!(!blocklist.contains(name) && forced(name).is_none());
            prop_assert!(!name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0'));
        }
        for name in process.keys() {
            prop_assert!(env.vars.contains_key(name) || env.dropped.iter().any(|it| it.name == *name));
        }
    }
}
