//! Assignments, by themselves and in front of a command.

use crate::env::{Env, Unit, Variable};
use crate::judge::Judge;
use crate::syntax::{Assignment, Value};
use crate::value::{Arg, Flow, Taint};
use std::ops::Range;
use std::rc::Rc;

impl Judge {
    /// A word; after `export` and its like an assignment is one word.
    pub(crate) fn declared(
        &mut self,
        unit: &Rc<Unit>,
        word: &Range<usize>,
        first: Option<&Arg>,
        index: usize,
        env: &mut Env,
    ) -> Vec<Arg> {
        let declares = index > 0
            && first.is_some_and(|it| {
                matches!(
                    it.marked.as_str(),
                    "export" | "declare" | "local" | "readonly" | "typeset" | "alias"
                )
            });
        let text = unit.source.slice(word.clone());
        if declares && crate::syntax::name_length(text.as_bytes()) > 0 && text.contains('=') {
            return vec![self.value(unit, word, env)];
        }
        self.args(unit, word, env)
    }

    /// An assignment. The variable and its value, if it is a plain one.
    pub(crate) fn assign(
        &mut self,
        unit: &Rc<Unit>,
        assignment: &Assignment,
        env: &mut Env,
        maybe: bool,
    ) -> Option<(String, Arg)> {
        let name = unit.source.slice(assignment.name.clone());
        let (name, index) = match name.split_once('[') {
            Some((name, index)) => (name, Some(index.trim_end_matches(']'))),
            None => (name, None),
        };
        if index.is_some_and(|it| it.contains(['$', '`'])) {
            let from = assignment.name.start + name.len() + 1;
            let index = self.double(unit, from..assignment.name.end.saturating_sub(1), env);
            self.expression_text(&index.text, env);
        }
        match &assignment.value {
            Value::Array(words) => {
                let mut items = Vec::new();
                let mut taint = Taint::NONE;
                for word in words {
                    // `[0]=word`.
                    let text = unit.source.slice(word.clone());
                    let index = text.strip_prefix('[').and_then(|it| it.find("]="));
                    let word = word.start + index.map_or(0, |it| it + 3)..word.end;
                    for arg in self.args(unit, &word, env) {
                        taint |= arg.taint;
                        items.push(arg.marked);
                    }
                }
                if assignment.is_append
                    && let Some((old, _)) = env.get(name, self.choice)
                {
                    let mut all = old.items.clone();
                    all.extend(items);
                    items = all;
                }
                env.set(name, Variable { items, is_list: true, taint }, maybe);
                None
            }
            Value::Word(word) => {
                let value = self.value(unit, word, env);
                let mut flow = value.flow();
                if let Some(index) = index {
                    let mut list = env.latest(name).cloned().unwrap_or_default();
                    list.is_list = true;
                    list.taint |= flow.taint;
                    let place = index.parse::<usize>().unwrap_or(list.items.len()).min(1024);
                    while list.items.len() <= place {
                        list.items.push(String::new());
                    }
                    if let Some(item) = list.items.get_mut(place) {
                        *item = flow.text;
                    }
                    // What it held before is in it.
                    env.set(name, list, false);
                    return None;
                }
                if assignment.is_append
                    && let Some((old, _)) = env.get(name, self.choice)
                {
                    let text = old.items.first().cloned().unwrap_or_default();
                    let mut all = Flow { taint: old.taint, ..Flow::known(text) };
                    all.push(&flow);
                    flow = all;
                }
                env.set(name, Variable::text(flow), maybe);
                Some((name.to_owned(), value))
            }
        }
    }
}
