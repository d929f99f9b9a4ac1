//! Sequences.

use std::sync::Arc;

use crate::parse::ast::ObjectName;

use crate::catalog::{Oid, Relation, RelationKind, Sequence, SequenceOwner};
use crate::error::{Result, SqlError, SqlState};
use crate::parse::ddl::SequenceOption;
use crate::schema::Editor;
use crate::schema::names::{self, parts};
use crate::storage::world::as_table;
use crate::types::Type;

/// Where a sequence stands. It never goes back, whatever is rolled back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceState {
    pub(crate) last: i64,
    pub(crate) called: bool,
}

impl Editor<'_, '_> {
    pub(super) fn create_sequence(
        &mut self,
        temporary: bool,
        if_not_exists: bool,
        name: &ObjectName,
        options: &[SequenceOption],
    ) -> Result<()> {
        let (schema, name) = self.place(name, temporary)?;
        if self.is_taken(schema, &name, if_not_exists)? {
            return Ok(());
        }
        let mut sequence = self.new_sequence(options)?;
        sequence.owner = self.owner_said(options)?.flatten();
        self.put_sequence(schema, name, sequence)?;
        Ok(())
    }

    /// A sequence that a column owns, with the name that PostgreSQL makes up unless the options say one.
    pub(super) fn make_sequence_for(
        &mut self,
        owner: SequenceOwner,
        options: &[SequenceOption],
    ) -> Result<(Oid, String)> {
        let relation = self.relation(owner.table)?;
        let column = &as_table(&relation)?.columns[owner.column].name;
        let said = options.iter().find_map(|option| match option {
            SequenceOption::Name(name) => Some(name),
            _ => None,
        });
        let name = match said {
            Some(name) => parts(name)?.1,
            None => names::relation_name(&self.catalog, relation.schema, &relation.name, &[column], "seq"),
        };
        let mut sequence = self.new_sequence(options)?;
        sequence.owner = Some(owner);
        let oid = self.put_sequence(relation.schema, name.clone(), sequence)?;
        let visible = self.path().contains(&relation.schema);
        let schema = &self.catalog.schemas[&relation.schema].name;
        let quoted = crate::types::quote::identifier(&name);
        let full = if visible { quoted } else { format!("{}.{quoted}", crate::types::quote::identifier(schema)) };
        Ok((oid, full))
    }

    fn put_sequence(&mut self, schema: Oid, name: Arc<str>, sequence: Sequence) -> Result<Oid> {
        let oid = self.db.new_oid();
        self.db.sequences.insert(oid, SequenceState { last: sequence.start, called: false });
        self.change_catalog(|catalog| {
            catalog.put_relation(Relation { oid, schema, name, kind: RelationKind::Sequence(sequence) });
            Ok(oid)
        })
    }

    fn new_sequence(&mut self, options: &[SequenceOption]) -> Result<Sequence> {
        let base = Sequence {
            ty: Type::INT8,
            start: 1,
            increment: 1,
            minimum: 1,
            maximum: i64::MAX,
            cycle: false,
            cache: 1,
            owner: None,
        };
        self.with_options(base, options, true)
    }

    fn with_options(&mut self, mut sequence: Sequence, options: &[SequenceOption], new: bool) -> Result<Sequence> {
        let (mut minimum, mut maximum, mut start) = (None, None, None);
        let retyped = options.iter().any(|option| matches!(option, SequenceOption::As(_)));
        for option in options {
            match option {
                SequenceOption::As(ty) => sequence.ty = self.bind_type(ty)?.ty,
                SequenceOption::Increment(by) => sequence.increment = *by,
                SequenceOption::Minimum(value) => minimum = Some(*value),
                SequenceOption::Maximum(value) => maximum = Some(*value),
                SequenceOption::Start(value) => start = Some(*value),
                SequenceOption::Cache(cache) => sequence.cache = *cache,
                SequenceOption::Cycle(cycle) => sequence.cycle = *cycle,
                _ => {}
            }
        }
        let (lowest, highest) = match sequence.ty {
            Type::INT2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
            Type::INT4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Type::INT8 => (i64::MIN, i64::MAX),
            _ => {
                let message = "sequence type must be smallint, integer, or bigint";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
        };
        if sequence.increment == 0 {
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "INCREMENT must not be zero"));
        }
        let up = sequence.increment > 0;
        let (least, most) = if up { (1, highest) } else { (lowest, -1) };
        match minimum {
            Some(said) => sequence.minimum = said.unwrap_or(least),
            None if new || retyped => sequence.minimum = least,
            None => {}
        }
        match maximum {
            Some(said) => sequence.maximum = said.unwrap_or(most),
            None if new || retyped => sequence.maximum = most,
            None => {}
        }
        match start {
            Some(start) => sequence.start = start,
            None if new => sequence.start = if up { sequence.minimum } else { sequence.maximum },
            None => {}
        }
        let invalid = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        if sequence.minimum >= sequence.maximum {
            let (minimum, maximum) = (sequence.minimum, sequence.maximum);
            return invalid(format!("MINVALUE ({minimum}) must be less than MAXVALUE ({maximum})"));
        }
        if sequence.start < sequence.minimum {
            let (start, minimum) = (sequence.start, sequence.minimum);
            return invalid(format!("START value ({start}) cannot be less than MINVALUE ({minimum})"));
        }
        if sequence.start > sequence.maximum {
            let (start, maximum) = (sequence.start, sequence.maximum);
            return invalid(format!("START value ({start}) cannot be greater than MAXVALUE ({maximum})"));
        }
        Ok(sequence)
    }

    /// What OWNED BY says, if anything.
    fn owner_said(&mut self, options: &[SequenceOption]) -> Result<Option<Option<SequenceOwner>>> {
        let said = options.iter().find_map(|option| match option {
            SequenceOption::OwnedBy(owner) => Some(owner),
            _ => None,
        });
        let Some(said) = said else { return Ok(None) };
        let Some(column) = said else { return Ok(Some(None)) };
        let (name, table) = column.0.split_last().ok_or_else(|| SqlError::syntax("invalid OWNED BY option"))?;
        if table.is_empty() {
            return Err(
                SqlError::syntax("invalid OWNED BY option").hint("Specify OWNED BY table.column or OWNED BY NONE.")
            );
        }
        let relation = self.resolve_relation(&ObjectName(table.to_vec()))?;
        let column = self.position(relation.oid, name)?;
        Ok(Some(Some(SequenceOwner { table: relation.oid, column, identity: false })))
    }

    pub(super) fn alter_sequence(
        &mut self,
        if_exists: bool,
        name: &ObjectName,
        options: &[SequenceOption],
    ) -> Result<()> {
        let Some(relation) = self.relation_or_skip(name, if_exists)? else { return Ok(()) };
        self.change_sequence(relation.oid, options)
    }

    /// Changes a sequence, and where it stands.
    pub(super) fn change_sequence(&mut self, oid: Oid, options: &[SequenceOption]) -> Result<()> {
        let mut relation = Relation::clone(&*self.relation(oid)?);
        let RelationKind::Sequence(sequence) = &relation.kind else {
            let message = format!("\"{}\" is not a sequence", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        };
        let mut changed = self.with_options(sequence.clone(), options, false)?;
        if let Some(owner) = self.owner_said(options)? {
            changed.owner = owner;
        }
        for option in options {
            if let SequenceOption::Restart(value) = option {
                let last = value.unwrap_or(changed.start);
                self.db.sequences.insert(oid, SequenceState { last, called: false });
            }
        }
        relation.kind = RelationKind::Sequence(changed);
        self.change_catalog(|catalog| {
            catalog.put_relation(relation);
            Ok(())
        })
    }
}
