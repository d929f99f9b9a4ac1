//! Where arrows meet boxes. An arrow leaves and enters at the side of an operation's cell that faces its other end, and
//! every arrow has a slot there that is as high as a label: labels beside one box never touch.

use std::collections::BTreeMap;

use skew_model::{History, OpId, SessionId, TxnId};

use crate::arrows::{Arrow, Role};

/// The height of a slot: a label and a little air.
pub(crate) const SLOT: f64 = 20.0;

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The place of one end of an arrow: a side of a cell (of the head for no operation) and a slot, counted from the top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Port {
    pub(crate) txn: TxnId,
    pub(crate) op: Option<OpId>,
    pub(crate) side: Side,
    pub(crate) slot: usize,
}

/// How an arrow goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Straight down its lane to the next transaction of the session.
    Down,
    /// From a side of a box to a side of a box.
    Across { from: Port, to: Port },
}

/// The ways of all arrows, and how many slots each side of each cell has.
pub(crate) struct Ports {
    /// `None` for arrows whose ends are not drawn.
    pub(crate) ways: Vec<Option<Way>>,
    slots: BTreeMap<(TxnId, Option<OpId>, Side), usize>,
}

impl Ports {
    /// Gives every arrow its slots. `order` is the order in which boxes are placed, from top to bottom.
    pub(crate) fn new(history: &History, sessions: &[SessionId], order: &[TxnId], arrows: &[Arrow]) -> Ports {
        let lane = |id: TxnId| sessions.iter().position(|session| *session == history.txn(id).session);
        let place = |id: TxnId| order.iter().position(|other| *other == id);
        let mut ports = Ports { ways: vec![None; arrows.len()], slots: BTreeMap::new() };
        // Ends on one side of a cell stand in the order of the boxes at their other ends, so that they cross less.
        let mut ends: Vec<(usize, usize, bool)> = Vec::new();
        for (index, arrow) in arrows.iter().enumerate() {
            let (Some(from), Some(to)) = (place(arrow.from), place(arrow.to)) else { continue };
            let is_same_lane = lane(arrow.from) == lane(arrow.to);
            if is_same_lane && arrow.from_op.is_none() && arrow.to_op.is_none() && is_next(history, order, arrow) {
                ports.ways[index] = Some(Way::Down);
                continue;
            }
            ends.push((to, index, true));
            ends.push((from, index, false));
        }
        ends.sort_unstable();
        let mut shared: BTreeMap<(TxnId, Option<OpId>, Side), usize> = BTreeMap::new();
        for (_, index, is_start) in ends {
            let arrow = &arrows[index];
            let ((txn, op), other) =
                if is_start { ((arrow.from, arrow.from_op), arrow.to) } else { ((arrow.to, arrow.to_op), arrow.from) };
            let side = if lane(other) >= lane(txn) { Side::Right } else { Side::Left };
            let key = (txn, op, side);
            // What else was read from one write leaves it as one line.
            let is_shared = is_start && arrow.role == Role::Context;
            let slot = match shared.get(&key).filter(|_| is_shared) {
                Some(slot) => *slot,
                None => {
                    let count = ports.slots.entry(key).or_default();
                    *count += 1;
                    if is_shared {
                        shared.insert(key, *count - 1);
                    }
                    *count - 1
                }
            };
            let port = Port { txn, op, side, slot };
            ports.ways[index] = Some(match ports.ways[index] {
                Some(Way::Across { to, .. }) if is_start => Way::Across { from: port, to },
                Some(Way::Across { from, .. }) => Way::Across { from, to: port },
                _ => Way::Across { from: port, to: port },
            });
        }
        ports
    }

    /// How high a cell has to be, at least, for the arrows at its sides.
    pub(crate) fn height(&self, txn: TxnId, op: Option<OpId>) -> f64 {
        let most = self.count(txn, op, Side::Left).max(self.count(txn, op, Side::Right));
        SLOT * most as f64 + 8.0
    }

    /// How far below the middle of its cell a port is.
    pub(crate) fn offset(&self, port: Port) -> f64 {
        let count = self.count(port.txn, port.op, port.side) as f64;
        (port.slot as f64 - (count - 1.0) / 2.0) * SLOT
    }

    /// All ports of a box.
    pub(crate) fn of(&self, txn: TxnId) -> impl Iterator<Item = Port> + '_ {
        let all = (txn, None, Side::Left)..=(txn, Some(OpId(u32::MAX)), Side::Right);
        self.slots
            .range(all)
            .flat_map(|(&(txn, op, side), &count)| (0..count).map(move |slot| Port { txn, op, side, slot }))
    }

    fn count(&self, txn: TxnId, op: Option<OpId>, side: Side) -> usize {
        self.slots.get(&(txn, op, side)).copied().unwrap_or(0)
    }
}

/// Whether an arrow leads from a transaction to the next one of its session.
fn is_next(history: &History, order: &[TxnId], arrow: &Arrow) -> bool {
    let mut own = order.iter().filter(|id| history.txn(**id).session == history.txn(arrow.from).session);
    own.by_ref().any(|id| *id == arrow.from) && own.next() == Some(&arrow.to)
}
