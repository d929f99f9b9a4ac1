//! Places in a commit order that grows at its end and, for serializable transactions that read old versions, in the
//! middle.

/// A place in the commit order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Position {
    label: u64,
    /// Tells places with one label apart; grows with every place given.
    serial: u64,
}

impl Position {
    /// The initial transaction's.
    pub(crate) const FIRST: Position = Position { label: 0, serial: 0 };
    /// Later than everything.
    pub(crate) const NEVER: Position = Position { label: u64::MAX, serial: u64::MAX };
}

/// How far apart two places at the end of the order are: room for what is put between them later.
const GAP: u64 = 1 << 24;

/// Gives out places.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    end: Position,
}

impl Positions {
    pub(crate) fn new() -> Self {
        Positions { end: Position::FIRST }
    }

    /// The last place at the end of the order so far.
    pub(crate) fn end(&self) -> Position {
        self.end
    }

    /// A place after all others.
    pub(crate) fn append(&mut self) -> Position {
        self.end = Position { label: self.end.label + GAP, serial: self.end.serial + 1 };
        self.end
    }

    /// A place after `lower` and before `upper`, if there is room.
    pub(crate) fn between(&mut self, lower: Position, upper: Position) -> Option<Position> {
        let label = room(lower, upper)?;
        self.end.serial += 1;
        Some(Position { label, serial: self.end.serial })
    }

    /// A place right after `lower`: before whatever is at the end of the order later on.
    pub(crate) fn after(&mut self, lower: Position) -> Position {
        self.end.serial += 1;
        Position { label: lower.label, serial: self.end.serial }
    }
}

/// Whether a place can be given between the two.
pub(crate) fn has_room(lower: Position, upper: Position) -> bool {
    room(lower, upper).is_some()
}

fn room(lower: Position, upper: Position) -> Option<u64> {
    let space = upper.label.checked_sub(lower.label)?;
    match space {
        0 => None,
        // The same label and a later serial is after `lower`, and a smaller label is before `upper`.
        1 => Some(lower.label),
        _ => Some(lower.label + space / 2),
    }
}
