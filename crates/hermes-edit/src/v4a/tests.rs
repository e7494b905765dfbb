//! Tests of patches as a whole.

use pretty_assertions::assert_eq;

use super::*;

fn files(files: &[(&str, &str)]) -> Memory {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
    Memory { files: files.collect() }
}

fn run(before: &[(&str, &str)], patch: &str) -> Result<Memory, Vec<ProblemKind>> {
    let kinds = |problems: Vec<Problem>| problems.iter().map(|it| it.kind).collect::<Vec<_>>();
    let mut memory = files(before);
    let patch = parse(patch).map_err(kinds)?;
    let changes = apply(&patch, &memory).map_err(|failures| {
        let problems = failures.into_iter().map(|failure| match failure.cause {
            Cause::Patch(problem) => problem,
            Cause::Files(never) => match never {},
        });
        kinds(problems.collect())
    })?;
    memory.commit(&changes);
    Ok(memory)
}

/// An update of the file `f`.
#[track_caller]
fn update(before: &str, hunks: &str, expected: Result<&str, ProblemKind>) {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n");
    let expected = expected.map(|text| files(&[("f", text)])).map_err(|kind| vec![kind]);
    assert_eq!(run(&[("f", before)], &patch), expected, "{hunks}");
}

#[test]
fn blank_lines_are_context_unless_they_end_a_hunk() {
    update("a\n\nb\n", "@@\n a\n\n-b\n+B\n\n", Ok("a\n\nB\n"));
    update("a\n\nb\n", "@@\n\n-b\n+B", Ok("a\n\nB\n"));
    update("a\n\nb\n", "\n\n@@\n-a\n+A\n\n@@\n-b\n+B", Ok("A\n\nB\n"));
    update("a\nb\n", "@@\n-a\n+A\n \n", Err(ProblemKind::NotFound));
}

#[test]
fn final_line_endings_stay_as_they_are() {
    update("a\nb", "@@\n a\n-b\n+B\n+C", Ok("a\nB\nC"));
    update("a\nb", "@@\n a\n-b", Ok("a"));
    update("a", "@@\n-a", Ok(""));
    update("a\n", "@@\n-a", Ok(""));
    update("a", "@@\n+b", Ok("a\nb\n"));
    update("a\r\nb", "@@\n+c", Ok("a\r\nb\r\nc\r\n"));
    update("a\n\n\n", "@@\n+b", Ok("a\n\n\nb\n"));
    update("", "@@\n+b\n+c", Ok("b\nc\n"));
    update("a\n", "-a\n+b\n\\ No newline at end of file", Ok("b\n"));
}

#[test]
fn added_lines_end_as_the_lines_around_them() {
    update("a\r\nb\nc\n", "@@\n-a\n+A\n+A2", Ok("A\r\nA2\r\nb\nc\n"));
    update("a\r\nb\nc\n", "@@\n a\n+x\n b", Ok("a\r\nx\r\nb\nc\n"));
    update("a\nb\r\n", "@@\n+x\n a", Ok("x\na\nb\r\n"));
    update("p\rq\nb\n", "@@\n-b\n+B", Ok("p\rq\nB\n"));
    let patch = "*** Update File: f\n@@\n-a\n+x\r\n b";
    assert_eq!(run(&[("f", "a\r\nb\r\n")], patch).unwrap(), files(&[("f", "x\r\nb\r\n")]));
}

#[test]
fn tiers_and_typography() {
    update("\tif a:\n\t\tb\n", "@@\n if a:\n-    b\n+    c\n+    d", Ok("\tif a:\n\t\tc\n\t\td\n"));
    update("say “hi”…\nx\n", "@@\n say \"hi\"...\n-x\n+y", Ok("say “hi”…\ny\n"));
    update("    a\n    b\n", "@@\n     a\n-    b\n+c", Ok("    a\nc\n"));
    update("x  \nx\n", "@@\n-x\n+y", Ok("x  \ny\n"));
    update("X\n", "@@\n-x\n+y", Err(ProblemKind::NotFound));
    update("\\section{a}\nb\n", "@@\n\\section{a}\n-b\n+c", Ok("\\section{a}\nc\n"));
}

#[test]
fn the_place_is_told_by_hints_order_and_the_end() {
    let twins = "class A:\n    def f():\n        pass\nclass B:\n    def f():\n        pass\n";
    let second = twins.strip_suffix("pass\n").unwrap().to_owned() + "x\n";
    update(twins, "@@ class B:\n@@ def f():\n-        pass\n+        x", Ok(&second));
    update(twins, "@@ class B:\n\n@@ def f(): @@\n-        pass\n+        x", Ok(&second));
    update(twins, "@@\n-        pass\n+        x\n*** End of File", Ok(&second));
    update(twins, "@@ -4,3 +4,3 @@ class B:\n-        pass\n+        x", Ok(&second));
    update(twins, "@@ class B:\n-class B:\n+class C:", Ok(&twins.replace("B:", "C:")));
    update(twins, "@@ class C:\n-        pass\n+        x", Err(ProblemKind::Ambiguous));
    update(twins, "@@ -4,3 +4,3 @@\n-        pass\n+        x", Err(ProblemKind::Ambiguous));
    update("a\nb\na\nb\n", "@@\n a\n-b\n+c\n a\n@@\n-b\n+d", Ok("a\nc\na\nd\n"));
    update("x\ny\nx\n", "@@\n-y\n+z\n@@\n-x\n+w", Ok("x\nz\nw\n"));
    update("1\n2\n3\n", "@@\n-3\n+c\n@@\n-1\n+a", Ok("a\n2\nc\n"));
    update("a\nb\na\n", "@@\n-a\n+A\n*** End of File\n-b\n+B", Ok("a\nB\nA\n"));
}

#[test]
fn insertions() {
    update("import a\ncode\n", "@@ import a\n+import b", Ok("import a\nimport b\ncode\n"));
    update("import a as x\n", "@@ import a\n+import b", Ok("import a as x\nimport b\n"));
    update("a\na\n", "@@ a\n+b", Err(ProblemKind::Ambiguous));
    update("a\n", "@@ z\n+b", Err(ProblemKind::NotFound));
    update("A\n f\nB\n f\n", "@@ B\n@@ f\n+x", Ok("A\n f\nB\n f\nx\n"));
}

#[test]
fn sections_see_what_those_before_them_did() {
    let f: &[(&str, &str)] = &[("f", "a\n")];
    for (before, patch, expected) in [
        (f, "*** Add File: g\n+x\n*** Update File: ./g\n-x\n+y", &[("f", "a\n"), ("g", "y\n")][..]),
        (f, "*** Delete File: f\n*** Add File: f\n+x", &[("f", "x\n")]),
        (f, "*** Move File: f -> g\n*** Add File: f\n+x", &[("f", "x\n"), ("g", "a\n")]),
        (f, "*** Move File: f -> g\n*** Update File: g\n*** Move to: h\n-a\n+b", &[("h", "b\n")]),
        (f, "*** Update File: f\n*** Move to: g", &[("g", "a\n")]),
        (f, "***Update File: f\n-a\n+b\n***End Patch\nrest", &[("f", "b\n")]),
        (
            &[("a", "1\n"), ("b", "2\n")],
            "*** Move File: a -> t\n*** Move File: b -> a\n*** Move File: t -> b",
            &[("a", "2\n"), ("b", "1\n")],
        ),
        (
            &[],
            "*** Add File: e\n\n*** Add File: n\n+x\n\n+\n\\ No newline at end of file\n\n",
            &[("e", ""), ("n", "x\n\n")],
        ),
        (
            f,
            "text\r\n*** Begin Patch\r\n\r\n*** Add File: n\r\n+x\r\n",
            &[("f", "a\n"), ("n", "x\n")],
        ),
    ] {
        assert_eq!(run(before, patch), Ok(files(expected)), "{patch}");
    }
}

#[test]
fn all_that_is_wrong_is_told_and_nothing_is_done() {
    use ProblemKind::{AlreadyExists, NoChanges, NotFound, ParseError, Traversal};
    for (patch, expected) in [
        (
            "*** Update File: f\n-x\n+y\n*** Delete File: z\n*** Add File: g\n+a",
            vec![NotFound, NotFound, AlreadyExists],
        ),
        ("*** Update File: f\n-x\n+y\n@@\n-z\n@@\n-a\n+b", vec![NotFound, NotFound]),
        ("*** Update File: a/../f\n-a\n+b\n*** Add File: ..\\x\n+y", vec![Traversal, Traversal]),
        ("*** Move File: f -> ../g", vec![Traversal]),
        ("*** Update File: f\n*** Move to: x/..\n-a\n+b", vec![Traversal]),
        ("*** Move File: f", vec![ParseError]),
        ("*** Move File: f -> g", vec![AlreadyExists]),
        ("*** Rename File: f\n-a\n+b\n*** Copy File: f -> g", vec![ParseError, ParseError]),
        ("*** Add File: n\n+a\nb", vec![ParseError]),
        ("*** Update File:\n-a\n+b", vec![ParseError]),
        ("*** Update File: f\n-a\n+b\n*** Move to: g", vec![ParseError]),
        ("*** Delete File: f\n-a", vec![ParseError]),
        ("*** Begin Patch\n-a\n+b\n*** End Patch", vec![ParseError, ParseError]),
        ("hello", vec![ParseError]),
        ("", vec![ParseError]),
        ("*** Update File: f\n-a\n+a", vec![NoChanges]),
        ("*** Update File: f\n a", vec![NoChanges]),
        ("*** Begin Patch\n*** End Patch", vec![NoChanges]),
    ] {
        assert_eq!(run(&[("f", "a\n"), ("g", "b\n")], patch), Err(expected), "{patch}");
    }
}

#[test]
fn files_without_text_are_moved_and_deleted_only() {
    let memory = Memory { files: [("b".to_owned(), None)].into() };
    let apply_text = |text| apply(&parse(text).unwrap(), &memory);
    let moved = Change::Moved { from: "b".to_owned(), to: "c".to_owned(), change: None };
    assert_eq!(apply_text("*** Move File: b -> c").unwrap(), [moved]);
    let deleted = Change::Deleted { path: "b".to_owned(), old: None };
    assert_eq!(apply_text("*** Delete File: b").unwrap(), [deleted]);
    let failures = apply_text("*** Update File: b\n-a\n+b").unwrap_err();
    assert!(matches!(&failures[0].cause, Cause::Patch(it) if it.kind == ProblemKind::Binary));
    let changed = Change::Changed { path: "b".into(), old: String::new(), new: "x\n".into() };
    assert_eq!(apply_text("*** Delete File: b\n*** Add File: b\n+x").unwrap(), [changed]);
}

#[test]
fn a_wrong_line_is_named_with_what_is_near() {
    let memory = files(&[("f", "def process(x):\n    return x\n")]);
    let patch = "*** Update File: f\n@@\n-def proces(x):\n+def p(x):";
    let failures = apply(&parse(patch).unwrap(), &memory).unwrap_err();
    let Cause::Patch(problem) = &failures[0].cause else { unreachable!() };
    assert_eq!(problem.line, 2);
    assert!(problem.message.contains("`def proces(x):`, which it removes"), "{}", problem.message);
    assert!(problem.message.contains("1|def process(x):"), "{}", problem.message);
}
