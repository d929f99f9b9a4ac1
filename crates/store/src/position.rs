//! Places in a commit order that grows at its end and, for serializable transactions that read old versions, in the
//! middle.

/// A place in the commit order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Position(u64);

impl Position {
    /// The initial transaction's.
    pub(crate) const FIRST: Position = Position(0);
    /// Later than everything.
    pub(crate) const NEVER: Position = Position(u64::MAX);
}

/// How far apart two places at the end of the order are: room for what is put between them later.
const GAP: u64 = 1 << 31;

/// Gives out places.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    end: Position,
    /// How many places have been given in the middle.
    middle: u64,
}

impl Positions {
    pub(crate) fn new() -> Self {
        Positions { end: Position::FIRST, middle: 0 }
    }

    /// The last place at the end of the order so far.
    pub(crate) fn end(&self) -> Position {
        self.end
    }

    /// A place after all others.
    pub(crate) fn append(&mut self) -> Position {
        self.end = Position(self.end.0 + GAP);
        self.end
    }

    /// A place after `lower` and before `upper`, if there is room: somewhere around the middle, so that two who are put
    /// there one after the other get different places.
    pub(crate) fn between(&mut self, lower: Position, upper: Position) -> Option<Position> {
        if !has_room(lower, upper) {
            return None;
        }
        self.middle += 1;
        let quarter = (upper.0 - lower.0) / 4;
        let shift = if quarter == 0 { 0 } else { self.middle.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (2 * quarter) };
        Some(Position(lower.0 + quarter.max(1) + shift))
    }
}

/// Whether a place can be given between the two.
pub(crate) fn has_room(lower: Position, upper: Position) -> bool {
    upper.0.saturating_sub(lower.0) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_between_is_between() {
        let mut positions = Positions::new();
        let (mut lower, upper) = (positions.append(), positions.append());
        let mut given = 0;
        while let Some(between) = positions.between(lower, upper) {
            assert!(lower < between && between < upper);
            (lower, given) = (between, given + 1);
        }
        assert!(given > 20, "{given} places");
        assert!(!has_room(upper, lower));
    }
}
