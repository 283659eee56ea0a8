//! Properties of all readers: byte order marks, encodings, line ends, packing, the grammar of numbers, separators; and that a file that is
//! cut off anywhere is read or refused, but nothing else.

use std::fmt::{Debug, Display};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use viem_io::Source;

/// Reads a file and shows what it holds.
type Read = dyn Fn(Source<'_>) -> Result<String, String>;

/// A way to write whole numbers, and its name.
type Spelling = (&'static str, fn(&str) -> String);

/// A reader, a file for it, and what may be written in another way in that.
pub struct Reader {
    name: &'static str,
    text: String,
    read: Box<Read>,
    /// From which line on whole numbers may have fractions and exponents; none if they stand in words of the format.
    numbers_from: Option<usize>,
    /// True if commas, semicolons or tabulators may stand between numbers.
    has_separators: bool,
}

/// A reader whose numbers are from the first line on.
pub fn reader<T: Debug, E: Display>(
    name: &'static str,
    text: impl Into<String>,
    read: impl Fn(Source<'_>) -> Result<T, E> + 'static,
) -> Reader {
    let shown = |value: T| format!("{value:?}");
    let read = move |source: Source<'_>| read(source).map(shown).map_err(|error| error.to_string());
    Reader { name, text: text.into(), read: Box::new(read), numbers_from: Some(0), has_separators: false }
}

impl Reader {
    pub fn numbers_from(self, line: impl Into<Option<usize>>) -> Self {
        Self { numbers_from: line.into(), ..self }
    }

    #[allow(dead_code)] // each test program uses a part of it
    pub fn with_separators(self) -> Self {
        Self { has_separators: true, ..self }
    }

    fn read(&self, bytes: &[u8]) -> Result<String, String> {
        let source = Source::new("test", bytes).map_err(|error| error.to_string());
        source.and_then(|source| (self.read)(source))
    }
}

/// Checks all that readers share.
pub fn check(readers: &[Reader]) {
    a_text_is_read_in_any_encoding_and_with_any_line_ends(readers);
    numbers_are_what_they_say_however_they_are_spelled(readers);
    commas_semicolons_and_tabulators_stand_between_numbers(readers);
    a_file_that_is_cut_off_or_damaged_is_read_or_refused(readers);
}

/// Every reader reads these bytes as it reads its text.
fn assert_same(reader: &Reader, how: &str, bytes: &[u8]) {
    let expected = reader.read(reader.text.as_bytes()).unwrap();
    match reader.read(bytes) {
        Ok(read) => assert_eq!(read, expected, "{}: {how}: {}", reader.name, String::from_utf8_lossy(bytes)),
        Err(error) => panic!("{}: {how}: {error} in {}", reader.name, String::from_utf8_lossy(bytes)),
    }
}

fn utf16(text: &str, bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

fn a_text_is_read_in_any_encoding_and_with_any_line_ends(readers: &[Reader]) {
    for reader in readers {
        let text = &reader.text;
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        assert_same(reader, "gzip", &packer.finish().unwrap());
        let ends =
            [("LF", text.clone()), ("CR LF", text.replace('\n', "\r\n")), ("CR", text.replace('\n', "\r"))];
        for (name, text) in ends.iter().map(|(name, text)| (name, text)) {
            assert_same(reader, name, text.as_bytes());
            assert_same(reader, &format!("{name}, no last one"), text.trim_end().as_bytes());
            assert_same(reader, &format!("{name}, a mark"), format!("\u{feff}{text}").as_bytes());
            assert_same(reader, &format!("{name}, UTF-16, little"), &utf16(text, u16::to_le_bytes));
            assert_same(reader, &format!("{name}, UTF-16, big"), &utf16(text, u16::to_be_bytes));
        }
    }
}

/// The text with each whole number from a line on written in another way.
fn respelled(text: &str, from: usize, spell: impl Fn(&str) -> String) -> String {
    let mut respelled = String::new();
    for (line, content) in text.split_inclusive('\n').enumerate() {
        let mut rest = content;
        while let Some(end) = rest.find([' ', '\t', '\n']) {
            let word = &rest[..end];
            let is_number =
                line >= from && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            respelled += &if is_number { spell(word) } else { word.to_owned() };
            respelled.push_str(&rest[end..=end]);
            rest = &rest[end + 1..];
        }
        respelled += rest;
    }
    respelled
}

fn numbers_are_what_they_say_however_they_are_spelled(readers: &[Reader]) {
    let spellings: [Spelling; 7] = [
        ("a fraction", |word| format!("{word}.0")),
        ("a point", |word| format!("{word}.")),
        ("a plus", |word| format!("+{word}")),
        ("an exponent", |word| format!("{word}e0")),
        ("a negative exponent", |word| format!("{word}00E-2")),
        ("Fortran", |word| format!("{word}.0D+00")),
        ("NumPy", |word| format!("{:.18e}", word.parse::<f64>().unwrap())),
    ];
    for reader in readers {
        let Some(from) = reader.numbers_from else { continue };
        // Rows of that table are the lines that start with a digit.
        let is_spelled = |how: &str| how != "a plus" || reader.name != "aps";
        for (how, spell) in spellings.into_iter().filter(|&(how, _)| is_spelled(how)) {
            assert_same(reader, how, respelled(&reader.text, from, spell).as_bytes());
        }
        // What is no whole number, or no number, is refused or left out, and never read as another one.
        for word in ["1.5", "1e30", "-7", "0x1", "1,5", "1;5", "1e", ".", "nan"] {
            let broken = respelled(&reader.text, from, |_| word.to_owned());
            if let Ok(read) = reader.read(broken.as_bytes()) {
                assert_ne!(read, reader.read(reader.text.as_bytes()).unwrap(), "{}: {word}", reader.name);
            }
        }
    }
}

fn commas_semicolons_and_tabulators_stand_between_numbers(readers: &[Reader]) {
    for reader in readers.iter().filter(|reader| reader.has_separators) {
        for separator in [",", ", ", " , ", ";", "; ", "\t", "   "] {
            assert_same(reader, separator, reader.text.replace(' ', separator).as_bytes());
        }
        // An empty field of an edge is a fault.
        for separator in [",", ";"].into_iter().filter(|_| reader.name != "edges") {
            let trailing = reader.text.replace(' ', separator).replace('\n', &format!("{separator}\n"));
            assert_same(reader, "a separator at the end of each line", trailing.as_bytes());
        }
    }
}

fn a_file_that_is_cut_off_or_damaged_is_read_or_refused(readers: &[Reader]) {
    let mut state = 7u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for reader in readers {
        for length in 0..reader.text.len() {
            if let Err(error) = reader.read(&reader.text.as_bytes()[..length]) {
                let names_file = error.starts_with("test") || error.starts_with("machine `test`");
                assert!(names_file, "{}: {error}", reader.name);
            }
        }
        for _ in 0..300 {
            let mut bytes = reader.text.clone().into_bytes();
            for _ in 0..=below(3) {
                let place = below(bytes.len());
                bytes[place] = *b"0129 ,;.\n\r-+e#%\"x\0\xff".get(below(19)).unwrap_or(&b'x');
            }
            let _ = reader.read(&bytes);
            let _ = viem_io::readings(&bytes, true);
        }
    }
}
