//! Statements of SQL, and what they lose.

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Drop,
    Truncate,
    DeleteAll,
    UpdateAll,
    /// It changes something, of which there is more.
    Change,
}

/// The words of each statement: without comments, texts and quoted names.
pub(crate) fn statements(text: &str) -> Vec<Vec<String>> {
    let mut statements = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let flush = |word: &mut String, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '-' if chars.peek() == Some(&'-') => {
                flush(&mut word, &mut words);
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                flush(&mut word, &mut words);
                chars.next();
                // MySQL runs what is in `/*! .. */`.
                let runs = chars.peek() == Some(&'!');
                if runs {
                    chars.next();
                    while chars.peek().is_some_and(char::is_ascii_digit) {
                        chars.next();
                    }
                    continue;
                }
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '#' if word.is_empty() => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        break;
                    }
                }
            }
            '\'' | '"' | '`' => {
                flush(&mut word, &mut words);
                while let Some(inner) = chars.next() {
                    if inner == '\\' && c != '`' && c == '\'' {
                        chars.next();
                    } else if inner == c {
                        if chars.peek() == Some(&c) {
                            chars.next();
                        } else {
                            break;
                        }
                    }
                }
                words.push(if c == '\'' { "'".into() } else { "name".into() });
            }
            ';' => {
                flush(&mut word, &mut words);
                statements.push(std::mem::take(&mut words));
            }
            // A command of the client itself ends with the line.
            '\n' => {
                flush(&mut word, &mut words);
                let is_client =
                    words.first().is_some_and(|it| matches!(it.as_str(), "GO" | "go" | "\\G"));
                if is_client || words.last().is_some_and(|it| it.eq_ignore_ascii_case("go")) {
                    statements.push(std::mem::take(&mut words));
                }
            }
            c if c.is_alphanumeric() || c == '_' || c == '$' || c == '\u{F8FF}' => word.push(c),
            '\\' => {
                flush(&mut word, &mut words);
                word.push(c);
            }
            c => {
                flush(&mut word, &mut words);
                if !c.is_whitespace() && matches!(c, '(' | ')' | '=' | '<' | '>') {
                    words.push(c.to_string());
                }
            }
        }
    }
    flush(&mut word, &mut words);
    statements.push(words);
    statements
}

/// What the statements lose.
pub(crate) fn losses(text: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    for statement in statements(text) {
        let words: Vec<String> = statement.iter().map(|it| it.to_ascii_uppercase()).collect();
        let has = |wanted: &str| words.iter().any(|it| it == wanted);
        let objects = [
            "TABLE",
            "DATABASE",
            "SCHEMA",
            "VIEW",
            "USER",
            "ROLE",
            "INDEX",
            "KEYSPACE",
            "COLLECTION",
            "MATERIALIZED",
            "FOREIGN",
            "OWNED",
            "TABLESPACE",
            "SEQUENCE",
            "FUNCTION",
            "PROCEDURE",
            "TRIGGER",
            "TYPE",
            "EXTENSION",
            "LOGIN",
            "DICTIONARY",
            "PARTITION",
            "TEMPORARY",
            "COLUMN",
            "DOMAIN",
            "POLICY",
            "PUBLICATION",
            "SUBSCRIPTION",
            "SERVER",
            "CATALOG",
            "BUCKET",
            "MEASUREMENT",
            "SERIES",
            "STREAM",
            "PLUGGABLE",
            "PROFILE",
            "EVENT",
        ];
        // Words in front of the verb: a common table expression, EXPLAIN ANALYZE, the client's own.
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).map(String::as_str).unwrap_or_default();
            let previous = index
                .checked_sub(1)
                .and_then(|it| words.get(it))
                .map(String::as_str)
                .unwrap_or_default();
            match word.as_str() {
                "DROP"
                    if (index == 0
                        || matches!(
                            previous,
                            "(" | "BEGIN"
                                | "THEN"
                                | "EXECUTE"
                                | "ANALYZE"
                                | "DO"
                                | "AS"
                                | "ELSE"
                                | "LOOP"
                                | "$$"
                        )
                        || previous.contains("$$"))
                        && objects.contains(&next) =>
                {
                    losses.push(Loss::Drop);
                }
                "DROP" if words.first().is_some_and(|it| it == "ALTER") => losses.push(Loss::Drop),
                "TRUNCATE"
                    if index == 0
                        || matches!(previous, "BEGIN" | "THEN" | "ANALYZE" | "DO" | "AS")
                        || previous.contains("$$") =>
                {
                    losses.push(Loss::Truncate);
                }
                "DELETE"
                    if (next == "FROM" || next == "TOP" || (index == 0 && !next.is_empty()))
                        && !matches!(
                            previous,
                            "ON" | "FOR" | "GRANT" | "REVOKE" | "AFTER" | "BEFORE" | "OF"
                        ) =>
                {
                    losses.push(if condition(&words, index) {
                        Loss::Change
                    } else {
                        Loss::DeleteAll
                    });
                }
                "UPDATE"
                    if has("SET")
                        && !matches!(
                            previous,
                            "ON" | "FOR" | "KEY" | "DO" | "AFTER" | "BEFORE" | "OR" | "THEN"
                        ) =>
                {
                    losses.push(if condition(&words, index) {
                        Loss::Change
                    } else {
                        Loss::UpdateAll
                    });
                }
                "INSERT" | "REPLACE" if index == 0 => losses.push(Loss::Change),
                "UNSET" => {}
                _ => {}
            }
        }
    }
    losses
}

/// Whether a WHERE after `from` narrows the statement.
pub(crate) fn condition(words: &[String], from: usize) -> bool {
    let rest = words.get(from..).unwrap_or_default();
    let Some(at) = rest.iter().position(|it| it == "WHERE") else {
        return rest.iter().any(|it| it == "LIMIT") && rest.iter().any(|it| it == "1");
    };
    let tail: Vec<&str> =
        rest.get(at + 1..).unwrap_or_default().iter().map(String::as_str).collect();
    // Conditions that always hold.
    !matches!(
        tail.as_slice(),
        ["TRUE"]
            | ["1"]
            | ["1", "=", "1"]
            | ["'", "=", "'"]
            | ["0", "=", "0"]
            | ["TRUE", ")"]
            | ["NOT", "FALSE"]
            | ["2", ">", "1"]
            | ["1", "<", "2"]
            | []
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_lose() {
        for (text, expected) in [
            ("DROP TABLE x", vec![Loss::Drop]),
            ("drop /* x */ table if exists x", vec![Loss::Drop]),
            ("SELECT 'DROP TABLE x'", vec![]),
            ("SELECT \"drop table\" -- DROP TABLE x", vec![]),
            ("DELETE FROM a; SELECT 1 WHERE true", vec![Loss::DeleteAll]),
            ("DELETE FROM a WHERE id=1", vec![Loss::Change]),
            ("DELETE FROM a WHERE 1=1", vec![Loss::DeleteAll]),
            ("delete\nfrom users;", vec![Loss::DeleteAll]),
            ("UPDATE a SET b=1", vec![Loss::UpdateAll]),
            ("ALTER TABLE a DROP COLUMN b", vec![Loss::Drop]),
            ("TRUNCATE a", vec![Loss::Truncate]),
            ("INSERT INTO log VALUES ('DELETE FROM a')", vec![Loss::Change]),
            ("CREATE TABLE a (b INT REFERENCES c ON DELETE CASCADE)", vec![]),
        ] {
            assert_eq!(losses(text), expected, "{text}");
        }
    }
}
