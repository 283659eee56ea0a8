//! Quadratic assignment problems of QAPLIB, and what their files say of J.

use std::path::Path;

use crate::console::Console;
use crate::error::Result;
use crate::files;
use viem::base::settings::named;
use viem::base::types::Cost;
use viem::mapping::Mapping;
use viem::qap::Qap;
use viem_io::qaplib::{self, Qaplib};
use viem_io::{Source, qap_solution};

named! {
    /// How an assignment is written.
    pub enum OutputFormat: "format" {
        /// One number per line.
        Mapping = "mapping",
        /// A solution file of QAPLIB.
        Sln = "sln",
    }
}

/// A problem from a file, and what the file says of J.
pub(crate) struct Problem {
    pub(crate) qap: Qap,
    claims: Vec<Claim>,
    /// Every J is a multiple of it.
    divisor: u64,
}

/// A J that a file names.
struct Claim {
    cost: Cost,
    line: u64,
}

impl Problem {
    pub(crate) fn read(path: &Path, console: Console) -> Result<Self> {
        let Qaplib { size, a, b, claimed, claim_lines, notes, .. } = qaplib::read(Source::open(path)?)?;
        for note in notes {
            console.warn(format_args!("{}, {note}", files::name(path)));
        }
        let qap = Qap::from_matrices(size, a, b)?;
        let claims: Vec<Claim> =
            claimed.into_iter().zip(claim_lines).map(|(cost, line)| Claim { cost, line }).collect();
        let divisor = if claims.is_empty() { 1 } else { qap.divisor() };
        Ok(Self { qap, claims, divisor })
    }

    /// The least J that the file names and that is not ruled out.
    pub(crate) fn known(&self, lower_bound: Option<Cost>) -> Option<Cost> {
        let is_possible = |claim: &&Claim| self.refusal(claim.cost, lower_bound).is_none();
        self.claims.iter().filter(is_possible).map(|claim| claim.cost).min()
    }

    /// Why no assignment has this J.
    fn refusal(&self, claim: Cost, lower_bound: Option<Cost>) -> Option<String> {
        let is_multiple = claim == 0 || self.divisor > 0 && claim.unsigned_abs().is_multiple_of(self.divisor);
        match lower_bound {
            Some(bound) if claim < bound => Some(format!("no assignment has a J below {bound}")),
            _ if is_multiple => None,
            _ if self.divisor == 0 => Some("J is 0 whatever the assignment".to_owned()),
            _ => Some(format!("every J of these matrices is a multiple of {}", self.divisor)),
        }
    }

    /// Warns of each J that the file names although it is none, or although there is a lower one.
    pub(crate) fn check_claims(&self, path: &Path, cost: Cost, lower_bound: Option<Cost>, console: Console) {
        for &Claim { cost: claim, line } in &self.claims {
            let is_beaten = || format!("an assignment has J = {cost}, which is lower");
            let reason = self.refusal(claim, lower_bound).or_else(|| (cost < claim).then(is_beaten));
            if let Some(reason) = reason {
                console.warn(format_args!(
                    "{}, line {line}: the file names J = {claim}, but {reason}; is a number of the matrices or J wrong?",
                    files::name(path)
                ));
            }
        }
    }

    /// An assignment from a file. A solution file holds the place of each object or the object on each place, whichever has the J
    /// that it claims.
    pub(crate) fn assignment(&self, path: &Path, console: Console) -> Result<Mapping> {
        let file = qap_solution::read(Source::open(path)?, self.qap.size())?;
        let (mapping, inverse) =
            (Mapping::from_pes(file.order.clone())?, Mapping::from_processes(&file.order));
        let cost = self.qap.cost(mapping.pes());
        let claimed = file.claimed.filter(|&claimed| claimed != cost);
        let Some((claimed, inverse)) = claimed.zip(inverse) else { return Ok(mapping) };
        let cost_of_inverse = self.qap.cost(inverse.pes());
        if cost_of_inverse == claimed {
            return Ok(inverse);
        }
        console.warn(format_args!(
            "{} claims J = {claimed}, but J is {cost} if it holds the place of each object, which is taken, and \
             {cost_of_inverse} if it holds the object on each place",
            files::name(path)
        ));
        Ok(mapping)
    }
}

/// How far a J is above another, in percent, if that is above 0.
pub(crate) fn gap(cost: Cost, known: Cost) -> Option<f64> {
    (known > 0).then(|| 100.0 * (cost as f64 - known as f64) / known as f64)
}

/// A gap in words.
pub(crate) fn gap_in_words(gap: f64, digits: usize) -> String {
    let side = if gap < 0.0 { "below" } else { "above" };
    format!("{:.digits$} % {side}", gap.abs())
}

/// Prints how far J is above the one that the file names.
pub(crate) fn print_gap(console: Console, known: Option<Cost>, gap: Option<f64>) {
    if let (Some(known), Some(gap)) = (known, gap) {
        console.line(format_args!("the file names J = {known}: {} it", gap_in_words(gap, 4)));
    }
}
