//! What the content of a page draws: only its text, and what moves it.

use std::collections::HashMap;
use std::rc::Rc;

use super::file::File;
use super::font::Font;
use super::layout::{Layout, Piece};
use super::lexer::{Lexer, Token, is_blank};
use super::object::{Dict, Object};
use super::pages::Page;
use crate::document::ExtractError;

/// How much content is followed in one document, in bytes: forms may be shown any number of times.
const MAX_WORK: usize = 256 * 1024 * 1024;
/// What reading a font costs of that when it may be met again and again.
const FONT_WORK: usize = 1024 * 1024;
/// What showing a form costs of it besides its content.
const FORM_WORK: usize = 4096;
/// What an operator costs of it, since a short one may do much.
const OPERATOR_WORK: usize = 64;
/// How deeply forms may be in forms.
const MAX_FORMS: usize = 8;
/// How many states may be saved.
const MAX_STATES: usize = 128;
/// How much text a page may have, in bytes.
const MAX_PAGE: usize = 4 * 1024 * 1024;
/// How many operands are kept for an operator.
const MAX_OPERANDS: usize = 1024;

type Matrix = [f64; 6];
const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// `first`, then `second`.
fn then(first: Matrix, second: Matrix) -> Matrix {
    let [a, b, c, d, e, f] = first;
    let [g, h, i, j, k, l] = second;
    [
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + l,
    ]
}

/// What stays until it is restored.
#[derive(Clone)]
struct State {
    to_page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// Follows the pages of a document.
pub(super) struct Interpreter<'a> {
    file: &'a File<'a>,
    /// By the number of their objects.
    fonts: HashMap<u32, Rc<Font>>,
    /// How much more is followed.
    left: usize,
    cut: bool,
}

/// A page or a form that is being followed.
struct Run<'a> {
    resources: &'a Dict,
    state: State,
    saved: Vec<State>,
    text: Matrix,
    line: Matrix,
    /// Fonts by the names that this page has for them.
    named: HashMap<Rc<[u8]>, Option<Rc<Font>>>,
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(file: &'a File<'a>) -> Self {
        Self { file, fonts: HashMap::new(), left: MAX_WORK, cut: false }
    }

    /// Whether a limit ended it.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Pays for work; false when there is nothing left.
    fn pay(&mut self, work: usize) -> bool {
        match self.left.checked_sub(work) {
            Some(left) => self.left = left,
            None => self.cut = true,
        }
        !self.cut
    }

    /// The text of a page.
    pub(super) fn page(&mut self, page: &Page) -> Result<String, ExtractError> {
        // Parts of the content belong together, and may be cut between any two words.
        let mut content = Vec::new();
        for part in page.contents.iter() {
            if let Some(data) = self.file.stream(part)?
                && self.pay(data.len())
            {
                content.extend_from_slice(&data);
                content.push(b'\n');
            }
        }
        let mut layout = Layout::default();
        let state = State {
            to_page: IDENTITY,
            font: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        self.follow(&content, &page.resources, state, 0, &mut layout)?;
        Ok(layout.finish())
    }

    fn follow(
        &mut self,
        content: &[u8],
        resources: &Dict,
        state: State,
        depth: usize,
        layout: &mut Layout,
    ) -> Result<(), ExtractError> {
        let mut run = Run {
            resources,
            state,
            saved: Vec::new(),
            text: IDENTITY,
            line: IDENTITY,
            named: HashMap::new(),
        };
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        while lexer.position() < content.len() {
            let before = lexer.position();
            match lexer.next(false) {
                Some(Token::Value(value)) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(value);
                    }
                    continue;
                }
                Some(Token::Word(b"BI")) => skip_image(&mut lexer),
                Some(Token::Word(b"Do")) => {
                    if depth < MAX_FORMS {
                        self.form(&run, operands.last(), depth, layout)?;
                    }
                }
                Some(Token::Word(word)) => self.operator(&mut run, word, &operands, layout)?,
                // What has no end is passed over by its first byte; to try that at every one of
                // them would take quadratic time.
                None => {
                    if lexer.position() == before || lexer.position() >= content.len() {
                        break;
                    }
                }
            }
            operands.clear();
            if !self.pay(OPERATOR_WORK) || layout.len() > MAX_PAGE {
                break;
            }
        }
        Ok(())
    }

    /// Follows a form: content of its own that a page shows.
    fn form(
        &mut self,
        run: &Run<'_>,
        name: Option<&Object>,
        depth: usize,
        layout: &mut Layout,
    ) -> Result<(), ExtractError> {
        let objects = self.file.get_dict(run.resources, "XObject");
        let name = name.and_then(Object::name).and_then(|name| std::str::from_utf8(name).ok());
        let object = objects.zip(name).and_then(|(objects, name)| objects.get(name).cloned());
        let Some(Object::Reference(number)) = object else { return Ok(()) };
        let Some(item) = self.file.item(number) else { return Ok(()) };
        let Some(dict) = item.dict().filter(|dict| dict.is("Subtype", "Form")) else {
            return Ok(());
        };
        let Some(content) = self.file.stream(&Object::Reference(number))? else { return Ok(()) };
        if !self.pay(content.len().saturating_add(FORM_WORK)) {
            return Ok(());
        }
        let own = self.file.get_dict(dict, "Resources");
        let matrix = self.file.get(dict, "Matrix").and_then(|it| matrix(it.array()?));
        let mut state = run.state.clone();
        state.to_page = then(matrix.unwrap_or(IDENTITY), state.to_page);
        self.follow(&content, own.as_deref().unwrap_or(run.resources), state, depth + 1, layout)
    }

    fn operator(
        &mut self,
        run: &mut Run<'_>,
        word: &[u8],
        operands: &[Object],
        layout: &mut Layout,
    ) -> Result<(), ExtractError> {
        let number = |at: usize| operands.get(at).and_then(Object::number).unwrap_or_default();
        let state = &mut run.state;
        match word {
            b"q" if run.saved.len() < MAX_STATES => run.saved.push(state.clone()),
            b"Q" => {
                if let Some(saved) = run.saved.pop() {
                    run.state = saved;
                }
            }
            b"cm" => {
                if let Some(matrix) = matrix(operands) {
                    state.to_page = then(matrix, state.to_page);
                }
            }
            b"BT" => {
                run.text = IDENTITY;
                run.line = IDENTITY;
            }
            b"Tf" => {
                state.size = number(1);
                let font = match operands.first() {
                    Some(Object::Name(name)) => self.font(run, name)?,
                    _ => None,
                };
                run.state.font = font;
            }
            b"Tc" => state.character_space = number(0),
            b"Tw" => state.word_space = number(0),
            b"Tz" => state.stretch = number(0) / 100.0,
            b"TL" => state.leading = number(0),
            b"Ts" => state.rise = number(0),
            b"Td" => run.move_line(number(0), number(1)),
            b"TD" => {
                state.leading = -number(1);
                run.move_line(number(0), number(1));
            }
            b"Tm" => {
                if let Some(matrix) = matrix(operands) {
                    run.text = matrix;
                    run.line = matrix;
                }
            }
            b"T*" => run.next_line(),
            b"Tj" => run.show(operands, layout),
            b"'" => {
                run.next_line();
                run.show(operands, layout);
            }
            b"\"" => {
                state.word_space = number(0);
                state.character_space = number(1);
                run.next_line();
                run.show(operands.get(2..).unwrap_or_default(), layout);
            }
            b"TJ" => {
                if let Some(items) = operands.first().and_then(Object::array) {
                    run.show(items, layout);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The font of a name, read once.
    fn font(
        &mut self,
        run: &mut Run<'_>,
        name: &Rc<[u8]>,
    ) -> Result<Option<Rc<Font>>, ExtractError> {
        if let Some(font) = run.named.get(name) {
            return Ok(font.clone());
        }
        let fonts = self.file.get_dict(run.resources, "Font");
        let value = fonts.and_then(|it| it.get(std::str::from_utf8(name).ok()?).cloned());
        let font = match value {
            Some(Object::Reference(number)) => match self.fonts.get(&number) {
                Some(font) => Some(Rc::clone(font)),
                None => {
                    let font = self.read_font(&Object::Reference(number))?;
                    if let Some(font) = &font {
                        self.fonts.insert(number, Rc::clone(font));
                    }
                    font
                }
            },
            Some(value) if self.pay(FONT_WORK) => self.read_font(&value)?,
            _ => None,
        };
        run.named.insert(Rc::clone(name), font.clone());
        Ok(font)
    }

    fn read_font(&self, value: &Object) -> Result<Option<Rc<Font>>, ExtractError> {
        match self.file.resolve(value) {
            Object::Dict(dict) => Ok(Some(Rc::new(Font::read(self.file, &dict)?))),
            _ => Ok(None),
        }
    }
}

impl Run<'_> {
    fn move_line(&mut self, x: f64, y: f64) {
        self.line = then([1.0, 0.0, 0.0, 1.0, x, y], self.line);
        self.text = self.line;
    }

    fn next_line(&mut self) {
        self.move_line(0.0, -self.state.leading);
    }

    /// Shows texts, with numbers between them that move what follows to the left.
    fn show(&mut self, items: &[Object], layout: &mut Layout) {
        let Some(font) = self.state.font.clone() else { return };
        let size = self.state.size;
        for item in items {
            match item {
                Object::Number(thousandths) => {
                    self.advance(-thousandths / 1000.0 * size * self.state.stretch);
                }
                Object::Text(text) => {
                    let start = self.place();
                    let mut shown = String::new();
                    for character in font.show(text) {
                        let extra = if character.is_blank { self.state.word_space } else { 0.0 };
                        let width = character.width * size + self.state.character_space + extra;
                        self.advance(width * self.state.stretch);
                        push(&mut shown, character.text.as_deref().unwrap_or_default());
                    }
                    let [a, b, c, d, ..] = then(self.text, self.state.to_page);
                    let length = a.hypot(b);
                    let direction =
                        if length > 0.0 { (a / length, b / length) } else { (1.0, 0.0) };
                    layout.add(Piece {
                        text: shown,
                        start,
                        end: self.place(),
                        direction,
                        size: (size * c.hypot(d)).abs(),
                    });
                }
                _ => {}
            }
        }
    }

    fn advance(&mut self, x: f64) {
        self.text = then([1.0, 0.0, 0.0, 1.0, x, 0.0], self.text);
    }

    /// Where the next character stands on the page.
    fn place(&self) -> (f64, f64) {
        let raised = then([1.0, 0.0, 0.0, 1.0, 0.0, self.state.rise], self.text);
        let [.., x, y] = then(raised, self.state.to_page);
        (x, y)
    }
}

/// Adds what can be seen.
fn push(out: &mut String, text: &str) {
    let plain = text.chars().filter(|c| !c.is_control());
    out.extend(plain.map(|c| if c == '\u{a0}' { ' ' } else { c }));
}

fn matrix(operands: &[Object]) -> Option<Matrix> {
    let mut matrix = IDENTITY;
    for (place, operand) in matrix.iter_mut().zip(operands) {
        *place = operand.number()?;
    }
    (operands.len() >= 6).then_some(matrix)
}

/// Passes over an image in the content: its end is a word of its own.
fn skip_image(lexer: &mut Lexer<'_>) {
    while let Some(at) = lexer.rest().windows(2).position(|it| it == b"EI") {
        let rest = lexer.rest();
        let before = at.checked_sub(1).and_then(|at| rest.get(at).copied());
        let ends = before.is_some_and(is_blank) && rest.get(at + 2).is_none_or(|&it| is_blank(it));
        lexer.advance(at + 2);
        if ends {
            return;
        }
    }
    lexer.advance(usize::MAX);
}
