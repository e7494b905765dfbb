//! Parentheses, redirects and here-documents.

use std::mem;

use super::{Closer, Command, Redirect, Scanner};
use crate::destructive::Script;

impl Scanner<'_> {
    pub(super) fn push_arithmetic(&mut self) {
        self.push(Closer::Paren);
        self.frame.is_arithmetic = true;
    }

    pub(super) fn open_paren(&mut self) {
        let command = &mut self.frame.command;
        if command.word.as_deref().is_some_and(|word| word.ends_with('=')) {
            self.push(Closer::Array);
            return;
        }
        // Before a parenthesis there can only be the name of a function.
        *command = Command::default();
        if self.take('(') {
            self.push(Closer::Paren);
            self.push_arithmetic();
        } else {
            let is_arithmetic = self.frame.is_arithmetic;
            self.push(Closer::Paren);
            self.frame.is_arithmetic = is_arithmetic;
        }
    }

    pub(super) fn close_paren(&mut self) {
        let opened = matches!(self.frame.closer, Closer::Paren | Closer::Array);
        if !opened || self.frame.cases > 0 {
            // The end of a pattern of `case`.
            self.frame.command = Command::default();
            return;
        }
        let was_arithmetic = self.frame.is_arithmetic;
        let compares = self.frame.compares;
        self.pop();
        // `$((` may also be a subshell in a substitution, and then a `>` in it was a redirect.
        if was_arithmetic && compares {
            if self.frame.is_arithmetic {
                self.frame.compares = true;
            } else if self.peek() != Some(')') {
                self.found = true;
            }
        }
    }

    pub(super) fn less_than(&mut self) {
        self.end_descriptor();
        if self.frame.is_arithmetic {
            return;
        }
        let kind = if self.take('(') {
            self.process_substitution();
            return;
        } else if self.take('<') {
            if self.take('<') {
                Redirect::HereText
            } else {
                Redirect::HereDocument { strip_tabs: self.take('-') }
            }
        } else {
            let _ = self.take('>') || self.take('&');
            Redirect::Harmless
        };
        self.begin_redirect(kind);
    }

    pub(super) fn greater_than(&mut self) {
        let words = &self.frame.command.words;
        let is_test = words.first().is_some_and(|word| word == "[[");
        if self.frame.is_arithmetic || is_test {
            self.frame.compares |= self.frame.is_arithmetic;
            self.end_word();
            return;
        }
        self.end_descriptor();
        let kind = match self.peek() {
            Some('(') => {
                self.chars.next();
                self.process_substitution();
                return;
            }
            Some('>') => {
                self.chars.next();
                Redirect::Harmless
            }
            Some('&') => {
                self.chars.next();
                Redirect::Duplicate
            }
            Some('|') => {
                self.chars.next();
                Redirect::Overwrite
            }
            _ => Redirect::Overwrite,
        };
        self.begin_redirect(kind);
    }

    /// After `<(` or `>(`, whose word is the name of a descriptor.
    fn process_substitution(&mut self) {
        self.frame.command.word.get_or_insert_default().push_str("/dev/fd/63");
        self.push(Closer::Paren);
    }

    /// Ends the word before a redirect, unless it is the number of a descriptor.
    fn end_descriptor(&mut self) {
        let command = &mut self.frame.command;
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        if !command.is_quoted
            && command.redirect.is_none()
            && command.word.as_ref().is_some_and(is_number)
        {
            command.word = None;
        } else {
            self.end_word();
        }
    }

    pub(super) fn begin_redirect(&mut self, kind: Redirect) {
        if self.frame.closer != Closer::Array {
            self.frame.command.redirect = Some(kind);
        }
    }

    /// After a newline: the bodies of the here-documents that were announced in the line.
    pub(super) fn skip_here_documents(&mut self) {
        for document in mem::take(&mut self.here_documents) {
            let body = self.chars.as_str();
            let mut length = 0;
            let mut rest = "";
            for line in body.split_inclusive('\n') {
                let bare = line.strip_suffix('\n').unwrap_or(line);
                let bare = bare.strip_suffix('\r').unwrap_or(bare);
                let bare = if document.strip_tabs { bare.trim_start_matches('\t') } else { bare };
                if bare == document.end {
                    rest = body.split_at(length + line.len()).1;
                    break;
                }
                length += line.len();
            }
            let (body, _) = body.split_at(length);
            let runs = document.feeds_shell || !document.is_quoted && body.contains(['$', '`']);
            if runs {
                let is_data = !document.feeds_shell;
                self.scripts.push(Script { text: body.to_owned(), is_data });
            }
            self.chars = rest.chars();
        }
    }
}
