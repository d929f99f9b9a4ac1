//! Rows of clocks in one flat array: for each node and each chain, how far.

/// Raises the row that starts at `target` to the one that starts at `source`; says whether anything changed.
#[inline]
pub(crate) fn raise(rows: &mut [u32], target: usize, source: usize, width: usize) -> bool {
    let (target, source) = if target < source {
        let (low, high) = rows.split_at_mut(source);
        (&mut low[target..target + width], &high[..width])
    } else {
        let (low, high) = rows.split_at_mut(target);
        (&mut high[..width], &low[source..source + width])
    };
    let mut changed = 0;
    for (mine, theirs) in target.iter_mut().zip(source) {
        changed |= theirs.saturating_sub(*mine);
        *mine = (*mine).max(*theirs);
    }
    changed != 0
}
