//! For each transaction, how much of each session comes before it: one row a transaction, in one flat array.
//!
//! A session's transactions are a chain, so "number `n` of session `s` is before `t`" is `row(t)[s] >= n`, and the
//! union of two pasts is the larger number in each place.

/// A table of clocks.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    width: usize,
    cells: Vec<u32>,
    /// The transaction of the first row: earlier ones have been forgotten.
    base: u32,
}

impl Clocks {
    pub(crate) fn new() -> Self {
        Clocks { width: 4, cells: Vec::new(), base: 0 }
    }

    /// Makes room for this many sessions.
    pub(crate) fn widen(&mut self, sessions: usize) {
        if sessions <= self.width {
            return;
        }
        let width = sessions.next_power_of_two();
        let mut cells = vec![0; self.cells.len() / self.width * width];
        for (new, old) in cells.chunks_exact_mut(width).zip(self.cells.chunks_exact(self.width)) {
            new[..self.width].copy_from_slice(old);
        }
        (self.width, self.cells) = (width, cells);
    }

    /// How many sessions a row covers.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Adds an empty row for the next transaction.
    pub(crate) fn push(&mut self) {
        self.cells.resize(self.cells.len() + self.width, 0);
    }

    /// Forgets the rows of the transactions before this one.
    pub(crate) fn forget(&mut self, before: u32) {
        self.cells.drain(..(before - self.base) as usize * self.width);
        self.base = before;
    }

    pub(crate) fn row(&self, txn: u32) -> &[u32] {
        let at = (txn - self.base) as usize * self.width;
        &self.cells[at..at + self.width]
    }

    pub(crate) fn row_mut(&mut self, txn: u32) -> &mut [u32] {
        let at = (txn - self.base) as usize * self.width;
        &mut self.cells[at..at + self.width]
    }

    /// Adds what is before `from` to what is before `to`.
    pub(crate) fn join(&mut self, to: u32, from: u32) {
        let (to, from) = ((to - self.base) as usize * self.width, (from - self.base) as usize * self.width);
        let (to, from) = if from < to {
            let (low, high) = self.cells.split_at_mut(to);
            (&mut high[..self.width], &low[from..from + self.width])
        } else {
            let (low, high) = self.cells.split_at_mut(from);
            (&mut low[to..to + self.width], &high[..self.width])
        };
        join(to, from);
    }
}

/// Adds one past to another.
pub(crate) fn join(to: &mut [u32], from: &[u32]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = (*to).max(from);
    }
}

/// Whether all of the second past is in the first.
pub(crate) fn covers(row: &[u32], other: &[u32]) -> bool {
    row.iter().zip(other).all(|(row, other)| row >= other)
}
