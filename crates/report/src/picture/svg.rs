//! A picture in SVG: text as text, lines, bars and heat maps.
//!
//! Colours are classes of the style sheet below, which has a light and a dark scheme. The picture draws its
//! own background, so it is readable on any page. Coordinates are in units of the picture, about 100 per inch
//! on a page.

use std::fmt::{Display, Write};

/// A picture under construction.
pub struct Svg {
    body: String,
    width: f64,
    height: f64,
}

/// A rectangle to draw in.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Its left edge.
    pub x: f64,
    /// Its upper edge.
    pub y: f64,
    /// The width from its left to its right edge.
    pub width: f64,
    /// The height from its upper to its lower edge.
    pub height: f64,
}

/// The alignment of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the names say it
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Number of shades of a heat map, from light to heavy traffic.
pub const SHADES: usize = 8;

/// Number of distinguishable colours of parts.
pub const COLOURS: usize = 10;

/// The classes: `ground` (background); `text`, `small` and `title` for text; `line`, `grid` and `border` for
/// lines; `a` and `b` for the bars of two series; `h0` to `h7` for heat maps; `p0` to `p9` for edges of
/// parts, and `cut` for edges between them.
const STYLE: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1b1f24;font-size:13px}
text.small{font-size:11px;fill:#57606a}text.title{font-size:16px;font-weight:600}
.ground{fill:#fff}.field{fill:#f3f4f6}.line{stroke:#57606a;fill:none}.grid{stroke:#d8dee4;fill:none}
.border{stroke:#9a3412;stroke-opacity:.55;fill:none}.a{fill:#8c959f}.b{fill:#0969da}
.h0{fill:#d5e6f8}.h1{fill:#b3d2f2}.h2{fill:#8cbbe9}.h3{fill:#64a1dd}.h4{fill:#4186cc}.h5{fill:#2a6ab4}.h6{fill:#174f95}.h7{fill:#0a3069}
.cut,.p0,.p1,.p2,.p3,.p4,.p5,.p6,.p7,.p8,.p9{fill:none;stroke-width:1}.cut{stroke:#1b1f24;stroke-opacity:.5}
.p0{stroke:#0969da}.p1{stroke:#e8590c}.p2{stroke:#2f9e44}.p3{stroke:#c2255c}.p4{stroke:#9c6ade}.p5{stroke:#b08800}.p6{stroke:#0c8599}.p7{stroke:#e64980}.p8{stroke:#74b816}.p9{stroke:#868e96}
@media (prefers-color-scheme:dark){.cut{stroke:#e6edf3}
text{fill:#e6edf3}text.small{fill:#9ea7b3}
.ground{fill:#0d1117}.field{fill:#161b22}.line{stroke:#9ea7b3}.grid{stroke:#30363d}
.border{stroke:#ffa657;stroke-opacity:.6}.a{fill:#848d97}.b{fill:#4493f8}
.h0{fill:#14304f}.h1{fill:#17406d}.h2{fill:#1a528c}.h3{fill:#2568ad}.h4{fill:#3a83cf}.h5{fill:#62a3e6}.h6{fill:#97c5f4}.h7{fill:#dbecff}
}
";

impl Svg {
    /// An empty picture of this size; screen readers read its title.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Self { body: String::new(), width, height };
        svg.push(format_args!("<title>{}</title>", escaped(title)));
        svg.push(format_args!("<style>{STYLE}</style>"));
        svg.push(format_args!(r#"<rect class="ground" width="{width}" height="{height}" rx="6"/>"#));
        svg
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("strings have room");
    }

    /// A text whose base line starts, is centred or ends at a point.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: impl Display) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(&text.to_string());
        self.push(format_args!(
            r#"<text x="{}" y="{}" text-anchor="{anchor}" class="{class}">{text}</text>"#,
            short(x),
            short(y)
        ));
    }

    /// A line between two points.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (short(x1), short(y1), short(x2), short(y2));
        self.push(format_args!(r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{class}"/>"#));
    }

    /// Lines between points, as a single path; nothing if there are none.
    pub fn lines(&mut self, lines: impl Iterator<Item = [(f64, f64); 2]>, class: &str) {
        let mut path = String::new();
        for [(x1, y1), (x2, y2)] in lines {
            let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(short);
            write!(path, "M{x1} {y1}L{x2} {y2}").expect("strings have room");
        }
        if !path.is_empty() {
            self.push(format_args!(r#"<path class="{class}" d="{path}"/>"#));
        }
    }

    /// A filled rectangle.
    pub fn rect(&mut self, frame: Frame, class: &str) {
        let Frame { x, y, width, height } = frame;
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        self.push(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}"/>"#
        ));
    }

    /// A vertical axis from 0 to `most` at the left of a frame, with grid lines at round numbers, which
    /// `label` formats.
    pub fn axis(&mut self, frame: Frame, most: f64, label: impl Fn(f64) -> String) {
        for tick in ticks(most) {
            let y = frame.y + frame.height * (1.0 - tick / most);
            self.line((frame.x, y), (frame.x + frame.width, y), "grid");
            self.text(frame.x - 6.0, y + 4.0, Anchor::End, "small", label(tick));
        }
    }

    /// Groups of bars side by side, one group per label and one bar per series; values are from 0 to `most`.
    pub fn bars(&mut self, frame: Frame, most: f64, series: &[(&str, &[f64])], labels: &[String]) {
        let count = series.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let step = frame.width / count.max(1) as f64;
        let width = (step * 0.8 / series.len().max(1) as f64).min(28.0);
        for index in 0..count {
            let middle = frame.x + step * (index as f64 + 0.5);
            let left = middle - width * series.len() as f64 / 2.0;
            for (number, (class, values)) in series.iter().enumerate() {
                let height = values.get(index).map_or(0.0, |value| frame.height * value / most);
                let (x, y) = (left + width * number as f64, frame.y + frame.height - height);
                self.rect(Frame { x, y, width, height }, class);
            }
            if let Some(label) = labels.get(index) {
                self.text(middle, frame.y + frame.height + 16.0, Anchor::Middle, "small", label);
            }
        }
        let ground = frame.y + frame.height;
        self.line((frame.x, ground), (frame.x + frame.width, ground), "line");
    }

    /// A square map of `side` rows of `side` cells, each with a shade below [`SHADES`] or empty.
    pub fn heat(&mut self, frame: Frame, side: usize, shades: &[Option<u8>]) {
        self.rect(frame, "field");
        // One path per shade, made of runs in rows in units of cells, and scaled to the frame as a whole.
        let mut paths = vec![String::new(); SHADES];
        for (row, cells) in shades.chunks(side).enumerate() {
            let mut column = 0;
            for run in cells.chunk_by(|a, b| a == b) {
                if let Some(shade) = run[0] {
                    let path = &mut paths[usize::from(shade)];
                    write!(path, "M{column} {row}h{0}v1h-{0}z", run.len()).expect("strings have room");
                }
                column += run.len();
            }
        }
        let (x, y) = (short(frame.x), short(frame.y));
        let (across, down) = (frame.width / side as f64, frame.height / side as f64);
        self.push(format_args!(
            r#"<g transform="translate({x} {y}) scale({across:.6} {down:.6})" shape-rendering="crispEdges">"#
        ));
        for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            self.push(format_args!(r#"<path class="h{shade}" d="{path}"/>"#));
        }
        self.push(format_args!("</g>"));
    }

    /// The picture as the text of a file.
    pub fn finish(self) -> String {
        let Self { body, width, height } = self;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
{body}</svg>
"#
        )
    }
}

/// Round numbers from 0 to `most`: about four, and at least two if `most` is positive.
pub fn ticks(most: f64) -> Vec<f64> {
    if most <= 0.0 || !most.is_finite() {
        return vec![0.0];
    }
    let power = 10f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| most / step <= 5.0);
    let step = step.unwrap_or(10.0 * power);
    (0..).map(|index| f64::from(index) * step).take_while(|tick| *tick <= most * (1.0 + 1e-9)).collect()
}

/// A number in short form: `950`, `1.2k`, `18.7M`.
pub fn brief(number: f64) -> String {
    let (size, unit) = unit_of(number);
    let text = format!("{:.1}", number / size);
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// A multiple of `step` in short form, with enough digits to tell neighbours apart: `1.47k`, `1.48k`.
pub fn brief_in_steps(number: f64, step: f64) -> String {
    let (size, unit) = unit_of(number);
    let decimals = (size / step).log10().ceil().clamp(0.0, 15.0) as usize;
    format!("{:.decimals$}{unit}", number / size)
}

/// The size and name of the unit for a number.
fn unit_of(number: f64) -> (f64, &'static str) {
    const UNITS: [(f64, &str); 6] =
        [(1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    UNITS.into_iter().find(|(size, _)| number.abs() >= *size).unwrap_or((1.0, ""))
}

/// A text escaped for XML. Characters that XML does not permit are dropped.
pub fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => result += "&amp;",
            '<' => result += "&lt;",
            '>' => result += "&gt;",
            '"' => result += "&quot;",
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => {}
            c => result.push(c),
        }
    }
    result
}

/// A coordinate with at most two decimal places.
fn short(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(7.0), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(0.0), [0.0]);
        for exponent in -6..18 {
            for factor in [1.0, 1.3, 2.2, 4.9, 5.1, 9.99] {
                let most = factor * 10f64.powi(exponent);
                let count = ticks(most).len();
                assert!((2..=7).contains(&count), "{most}: {count}");
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        let brief: Vec<String> = [0.0, 950.0, 1200.0, 18_656_982.0, 2e12].map(brief).to_vec();
        assert_eq!(brief, ["0", "950", "1.2k", "18.7M", "2T"]);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{0}\n"), "a&lt;b&gt; &amp; &quot;c&quot;");
    }

    #[test]
    fn cells_of_one_shade_in_a_row_are_one_run() {
        let mut svg = Svg::new(10.0, 10.0, "t");
        svg.heat(
            Frame { x: 0.0, y: 0.0, width: 9.0, height: 9.0 },
            3,
            &[Some(1), Some(1), None, None, Some(1), Some(7), None, None, None],
        );
        let text = svg.finish();
        assert!(text.contains(r#"<path class="h1" d="M0 0h2v1h-2zM1 1h1v1h-1z"/>"#), "{text}");
        assert!(text.contains(r#"<path class="h7" d="M2 1h1v1h-1z"/>"#));
        assert_eq!(text.matches("<path").count(), 2);
    }
}
