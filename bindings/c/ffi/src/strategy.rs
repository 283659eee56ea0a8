//! Strategies of Scotch: of all that they say, the imbalance means something here.

/// The imbalance of an empty strategy.
pub const DEFAULT: f64 = 0.01;
/// That of methods that name none.
const OF_METHODS: f64 = 0.05;

/// The imbalance that a strategy text asks for: that of the methods that run last (`bal`), and of these the greatest. Parameters of the bisections inside of recursive
/// bipartitioning (`sep`) say nothing about the whole, and those of the coarsest graph (`low`) are replaced by later ones. None if a number or a brace is wrong. O(length).
pub fn imbalance(text: &str) -> Option<f64> {
    if text.trim().is_empty() {
        return Some(DEFAULT);
    }
    // The kind of the parameter that is read in each brace that is open: 2 for `sep`, 1 for `low`, 0 for others.
    let (mut open, mut found) = (Vec::new(), [None::<f64>; 3]);
    // The last word, and what was before it: parameters begin after a brace or a comma, other equal signs belong to conditions.
    let (mut word, mut before) = (String::new(), ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => open.push(0),
            '}' => drop(open.pop()?),
            '=' if matches!(before, '{' | ',') => {
                *open.last_mut()? =
                    ["low", "sep"].iter().position(|name| *name == word).map_or(0, |kind| kind + 1);
                if word == "bal" {
                    let value = number(&text[at + 1..])?;
                    let place = &mut found[open.iter().copied().max()?];
                    *place = Some(place.map_or(value, |other| other.max(value)));
                }
            }
            _ => {}
        }
        if letter.is_ascii_alphanumeric() {
            word.push(letter);
        } else {
            word.clear();
            before = if letter.is_whitespace() { before } else { letter };
        }
    }
    open.is_empty().then(|| found.into_iter().flatten().next().unwrap_or(OF_METHODS))
}

/// The imbalance at the beginning of a text.
fn number(text: &str) -> Option<f64> {
    let end = text.find([',', '}']).unwrap_or(text.len());
    text[..end].trim().parse().ok().filter(|value: &f64| *value >= 0.0 && value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_imbalance_is_that_of_the_methods_that_run_last() {
        for (text, expected) in [
            ("", Some(0.01)),
            (" \n", Some(0.01)),
            ("r", Some(0.05)),
            ("r{job=t,bal=0.02,map=t,poli=S,sep=m{low=h,asc=f{bal=0.3}}}", Some(0.02)),
            ("m{asc=b{bnd=f{bal=0.03,move=1},org=f{bal=0.04}},low=r{bal=0.5,sep=f{bal=0.7}}}", Some(0.04)),
            ("m{asc=b{bnd=d,org=d},low=r{bal=0.1,sep=f{bal=0.7}}}", Some(0.1)),
            ("r{sep=(m{asc=f{bal=0.7}}|h)}x{bal=0.002}f{bal=1e-3}", Some(0.002)),
            ("r{sep=f{bal=0.7}}", Some(0.7)),
            ("r{bal=x}", None),
            ("r{bal=-1}", None),
            ("r{bal=0.1", None),
            ("r}", None),
            ("r{job=t, bal=0.02, sep=/(load0=load)?(f{bal=0.7}):h;}", Some(0.02)),
            ("(/((load0)=(load))?(x);)f{bal=0.03}", Some(0.03)),
        ] {
            assert_eq!(imbalance(text), expected, "{text}");
        }
    }
}
