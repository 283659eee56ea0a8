//! The statements of a schedule.

use std::ops::Range;

use crate::fault::{Stop, TrafficFault, expected};
use crate::fields::whole;
use viem::base::number;
use viem_io::signature::NUM_RANKS;
use viem_io::table::{is_blank, shortened};

const CLOSE: &str = "a bracket } that ends the rank";

/// A number and its place in its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: u64,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    NumRanks(Number),
    /// The block of a rank begins.
    Open(Number),
    Close,
    /// The rank of the block is the sender.
    Send {
        from: u64,
        to: Number,
        bytes: u64,
        tag: Tag,
        adapter: Adapter,
    },
    /// A receive; from any rank if none is named.
    Receive {
        from: Option<Number>,
        tag: Tag,
        adapter: Adapter,
    },
    /// A computation of this length.
    Compute(u64),
    /// The operation of one label waits for that of another.
    Requires {
        later: Range<usize>,
        earlier: Range<usize>,
        /// True if it waits for the start only.
        is_start: bool,
    },
}

impl Statement {
    /// The network adapter that is named.
    pub(super) fn adapter(&self) -> Adapter {
        match self {
            Self::Send { adapter, .. } | Self::Receive { adapter, .. } => *adapter,
            _ => None,
        }
    }
}

/// The tag of a message; none if any fits.
pub(super) type Tag = Option<u64>;

/// The network adapter that an operation uses, if it names one.
pub(super) type Adapter = Option<u64>;

/// A statement and its place in its line.
pub(super) struct Part {
    pub(super) statement: Statement,
    /// The place of the label, if an operation has one.
    pub(super) label: Option<Range<usize>>,
    pub(super) at: Range<usize>,
}

/// A function that takes the statements of a line.
pub(super) type Take<'a> = &'a mut dyn FnMut(Part) -> Result<(), TrafficFault>;

/// The known state in the middle of a schedule.
#[derive(Default)]
pub(super) struct Schedule {
    is_comment: bool,
    num_ranks: Option<u64>,
    /// The rank whose block it is.
    rank: Option<u64>,
    /// The place of the label of the operation.
    pub(super) label: Option<Range<usize>>,
}

impl Schedule {
    /// Passes on the statements of the next line.
    pub(super) fn read(&mut self, number: u64, line: &[u8], take: Take<'_>) -> Result<(), Stop> {
        let mut tokens = Tokens::new(line, number);
        while let Some(first) = tokens.next(&mut self.is_comment) {
            let start = first.start;
            self.label = None;
            let statement = self.statement(first, &mut tokens)?;
            let part = Part { statement, label: self.label.take(), at: start..tokens.position };
            take(part).map_err(|fault| tokens.stop(start, fault))?;
        }
        Ok(())
    }

    /// Checks that nothing is missing at the end.
    pub(super) fn end(&self) -> Result<(), TrafficFault> {
        let expected = match (self.num_ranks, self.rank) {
            (None, _) => "the number of ranks, such as `num_ranks 4`",
            (_, Some(_)) => CLOSE,
            _ => return Ok(()),
        };
        Err(TrafficFault::Missing { expected })
    }

    fn statement(&mut self, first: Token<'_>, tokens: &mut Tokens<'_>) -> Result<Statement, Stop> {
        const OUTSIDE: &str = "num_ranks, or rank, a number and a bracket {";
        match (first.text, self.rank) {
            (NUM_RANKS, None) => {
                let count = self.number(tokens, "a number of ranks")?;
                self.num_ranks = Some(count.value);
                Ok(Statement::NumRanks(count))
            }
            (b"rank", None) => {
                let rank = self.rank(tokens)?;
                self.word(tokens, &[b"{"], "a bracket {")?;
                self.rank = Some(rank.value);
                Ok(Statement::Open(rank))
            }
            (b"}", Some(_)) => {
                self.rank = None;
                Ok(Statement::Close)
            }
            (b"send" | b"recv" | b"calc", Some(rank)) => self.operation(first.text, rank, tokens),
            (_, Some(rank)) if first.is_word() => self.labelled(first.range(), rank, tokens),
            (_, Some(_)) => Err(tokens.unexpected(&first, "an operation, a label or a bracket }")),
            (_, None) => Err(tokens.unexpected(&first, OUTSIDE)),
        }
    }

    /// Reads the text behind a label.
    fn labelled(
        &mut self,
        label: Range<usize>,
        rank: u64,
        tokens: &mut Tokens<'_>,
    ) -> Result<Statement, Stop> {
        const OPERATIONS: [&[u8]; 3] = [b"send", b"recv", b"calc"];
        let expected = "a colon, requires or irequires";
        let word = self.word(tokens, &[b":", b"requires", b"irequires"], expected)?;
        if word == b":" {
            let operation = self.word(tokens, &OPERATIONS, "send, recv or calc")?;
            self.label = Some(label);
            return self.operation(operation, rank, tokens);
        }
        let earlier = self.next(tokens, "a label")?;
        if !earlier.is_word() {
            return Err(tokens.unexpected(&earlier, "a label"));
        }
        self.end_line(tokens)?;
        Ok(Statement::Requires { later: label, earlier: earlier.range(), is_start: word == b"irequires" })
    }

    fn operation(&mut self, name: &[u8], from: u64, tokens: &mut Tokens<'_>) -> Result<Statement, Stop> {
        match name {
            b"calc" => {
                let time = self.number(tokens, "a time")?.value;
                self.attributes(tokens)?;
                Ok(Statement::Compute(time))
            }
            b"send" => {
                let bytes = self.bytes(tokens)?;
                self.word(tokens, &[b"to"], "to")?;
                let to = self.rank(tokens)?;
                let (tag, adapter) = self.attributes(tokens)?;
                Ok(Statement::Send { from, to, bytes, tag, adapter })
            }
            _ => {
                self.bytes(tokens)?;
                self.word(tokens, &[b"from"], "from")?;
                let from = if self.is_any(tokens)? { None } else { Some(self.rank(tokens)?) };
                let (tag, adapter) = self.attributes(tokens)?;
                Ok(Statement::Receive { from, tag, adapter })
            }
        }
    }

    /// Reads the attributes of an operation. Its tag is 0 if it has none.
    fn attributes(&mut self, tokens: &mut Tokens<'_>) -> Result<(Tag, Adapter), Stop> {
        let (mut tag, mut adapter) = (Some(0), None);
        while let Some(token) = tokens.next(&mut self.is_comment) {
            if !matches!(token.text, b"tag" | b"cpu" | b"nic") {
                return Err(tokens.unexpected(&token, "tag, cpu, nic or the end of the line"));
            }
            let is_tag = token.text == b"tag";
            let value = match is_tag && self.is_any(tokens)? {
                true => None,
                false => Some(self.number(tokens, "a number behind tag, cpu or nic")?.value),
            };
            match token.text {
                b"tag" => tag = value,
                b"nic" => adapter = value,
                _ => {}
            }
        }
        Ok((tag, adapter))
    }

    /// Skips -1, if that comes next.
    fn is_any(&mut self, tokens: &mut Tokens<'_>) -> Result<bool, Stop> {
        let start = tokens.position;
        if self.next(tokens, "a number")?.text == b"-" {
            return self.word(tokens, &[b"1"], "-1").map(|_| true);
        }
        tokens.position = start;
        Ok(false)
    }

    fn bytes(&mut self, tokens: &mut Tokens<'_>) -> Result<u64, Stop> {
        let bytes = self.number(tokens, expected::BYTES)?;
        self.word(tokens, &[b"b"], "b, for bytes")?;
        Ok(bytes.value)
    }

    /// A rank that exists.
    fn rank(&mut self, tokens: &mut Tokens<'_>) -> Result<Number, Stop> {
        let rank = self.number(tokens, expected::RANK)?;
        let fault = match self.num_ranks {
            Some(count) if rank.value < count => return Ok(rank),
            Some(count) => {
                TrafficFault::NoSuchRank { rank: rank.value, first: 0, last: count.saturating_sub(1) }
            }
            None => TrafficFault::Missing { expected: "the number of ranks, before the first of them" },
        };
        Err(tokens.stop(rank.at.start, fault))
    }

    fn number(&mut self, tokens: &mut Tokens<'_>, expected: &'static str) -> Result<Number, Stop> {
        let token = self.next(tokens, expected)?;
        match whole(token.text).filter(|_| token.text[0].is_ascii_digit()) {
            Some(value) => Ok(Number { value, at: token.range() }),
            None => Err(tokens.unexpected(&token, expected)),
        }
    }

    /// The next token, which must be one of these.
    fn word<'a>(
        &mut self,
        tokens: &mut Tokens<'a>,
        words: &[&[u8]],
        expected: &'static str,
    ) -> Result<&'a [u8], Stop> {
        let token = self.next(tokens, expected)?;
        if words.contains(&token.text) { Ok(token.text) } else { Err(tokens.unexpected(&token, expected)) }
    }

    fn next<'a>(&mut self, tokens: &mut Tokens<'a>, expected: &'static str) -> Result<Token<'a>, Stop> {
        let end = tokens.line.len();
        tokens.next(&mut self.is_comment).ok_or_else(|| tokens.stop(end, TrafficFault::Missing { expected }))
    }

    fn end_line(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Stop> {
        match tokens.next(&mut self.is_comment) {
            Some(token) => Err(tokens.unexpected(&token, "the end of the line")),
            None => Ok(()),
        }
    }
}

/// A word, a number or a sign.
struct Token<'a> {
    text: &'a [u8],
    start: usize,
}

impl Token<'_> {
    /// Returns its place in its line.
    fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    fn is_word(&self) -> bool {
        self.text[0].is_ascii_alphabetic()
    }
}

/// The tokens of a line.
struct Tokens<'a> {
    line: &'a [u8],
    number: u64,
    position: usize,
}

impl<'a> Tokens<'a> {
    fn new(line: &'a [u8], number: u64) -> Self {
        Self { line, number, position: 0 }
    }

    /// The next token behind blanks and comments. `is_comment`: whether the position is inside of a comment of several lines.
    fn next(&mut self, is_comment: &mut bool) -> Option<Token<'a>> {
        loop {
            let rest = &self.line[self.position..];
            let first = *rest.first()?;
            if *is_comment {
                let end = rest.windows(2).position(|bytes| bytes == b"*/");
                *is_comment = end.is_none();
                self.position += end.map_or(rest.len(), |end| end + 2);
            } else if rest.starts_with(b"//") {
                self.position = self.line.len();
            } else if rest.starts_with(b"/*") {
                *is_comment = true;
                self.position += 2;
            } else if is_blank(first) {
                self.position += 1;
            } else {
                let start = self.position;
                let text = &rest[..length(rest)];
                self.position += text.len();
                return Some(Token { text, start });
            }
        }
    }

    fn stop(&self, at: usize, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: at as u64 + 1, fault }
    }

    fn unexpected(&self, token: &Token<'_>, expected: &'static str) -> Stop {
        let text = shortened(token.text);
        let fault = match number::whole(token.text) {
            Err(kind) if token.text[0].is_ascii_digit() => TrafficFault::not_a_number(text, kind, expected),
            _ => TrafficFault::Unexpected { text, expected },
        };
        self.stop(token.start, fault)
    }
}

/// The length of the token that a text starts with.
fn length(text: &[u8]) -> usize {
    let up_to = |is_inside: fn(&u8) -> bool| text.iter().take_while(|byte| is_inside(byte)).count();
    if text[0].is_ascii_digit() {
        up_to(u8::is_ascii_digit)
    } else if text[0].is_ascii_alphabetic() {
        up_to(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    } else {
        1
    }
}
