//! How much work may still be done.

/// Work that may still be done, in units of the caller's choice: mostly arcs that may still be walked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// More than any search can do.
    pub const UNLIMITED: Self = Self::new(usize::MAX);

    /// This much work.
    pub const fn new(work: usize) -> Self {
        Self { left: work }
    }

    /// Adds work that may be done.
    pub fn add(&mut self, work: usize) {
        self.left = self.left.saturating_add(work);
    }

    /// Pays for work that is done only if there is enough left for it; whether there is.
    #[inline]
    pub fn pays_for(&mut self, work: usize) -> bool {
        let rest = self.left.checked_sub(work);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    /// Pays for work that is done in any case, with all that is left if that is less.
    #[inline]
    pub fn spend(&mut self, work: usize) {
        self.left = self.left.saturating_sub(work);
    }

    /// Returns whether nothing is left.
    pub fn is_spent(self) -> bool {
        self.left == 0
    }

    /// A part of it, at most `work`. What is left of it at the end is [put back](Self::put_back).
    pub fn take(&mut self, work: usize) -> Self {
        let part = Self::new(work.min(self.left));
        self.left -= part.left;
        part
    }

    /// An equal share for each of so many, rounded up.
    pub fn share(self, count: usize) -> Self {
        Self::new(self.left.div_ceil(count.max(1)))
    }

    /// Pays for what was spent of a share.
    pub fn settle(&mut self, share: Self, left: Self) {
        self.spend(share.left.saturating_sub(left.left));
    }

    /// Takes back what is left of a part.
    pub fn put_back(&mut self, part: Self) {
        self.add(part.left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_pays_for_no_more_than_it_has() {
        let mut budget = Budget::new(10);
        assert!(budget.pays_for(7) && !budget.pays_for(4) && budget.pays_for(3));
        assert!(budget.is_spent() && budget.pays_for(0) && !budget.pays_for(1));
        budget.add(2);
        assert!(!budget.is_spent());
        budget.spend(5);
        assert!(budget.is_spent());
    }

    #[test]
    fn what_is_spent_of_shares_is_paid_for() {
        let mut budget = Budget::new(10);
        let share = budget.share(3);
        let mut left = share;
        assert!(left.pays_for(4) && left.is_spent());
        budget.settle(share, left);
        budget.settle(share, share);
        assert!(budget.pays_for(6) && budget.is_spent());
        assert!(budget.share(0).is_spent());
    }

    #[test]
    fn what_is_left_of_a_part_comes_back() {
        let mut budget = Budget::new(10);
        let mut part = budget.take(8);
        assert!(!budget.pays_for(3) && part.pays_for(5));
        budget.put_back(part);
        assert!(budget.pays_for(5) && budget.is_spent());
        assert!(budget.take(1).is_spent());
    }
}
