//! A small schema to bind against, made by hand.
//!
//! `t(a int primary key, b text, c numeric, d timestamptz, v varchar(10))`, `u(x int, y text, t_a int)` with a unique
//! index on x and an index on (t_a, y), `p(i int, j int, k int)` with the primary key (i, j), a view `tv`, an enum `mood`.

use std::sync::Arc;

use crate::catalog::*;
use crate::error::Result;
use crate::functions::{Env, Question, Settings};
use crate::types::{self, Datum, Definitions, ObjectNames, Type, Typed};

pub(crate) struct World {
    pub catalog: Catalog,
    settings: Settings,
}

impl Default for World {
    fn default() -> Self {
        let mut catalog = Catalog::default();
        let varchar = Typed { ty: Type::VARCHAR, modifier: 14 };
        let t = [
            ("a", Type::INT4.into()),
            ("b", Type::TEXT.into()),
            ("c", Type::NUMERIC.into()),
            ("d", Type::TIMESTAMPTZ.into()),
            ("v", varchar),
        ];
        let u = [("x", Type::INT4.into()), ("y", Type::TEXT.into()), ("t_a", Type::INT4.into())];
        let p = [("i", Type::INT4.into()), ("j", Type::INT4.into()), ("k", Type::INT4.into())];
        let mood = Type(16500);
        let m = [
            ("id", Type::INT8.into()),
            ("mood", mood.into()),
            ("tags", Type::TEXT_ARRAY.into()),
            ("j", Type::JSONB.into()),
        ];
        table(&mut catalog, 16400, "t", &t, &[("t_pkey", &[0], true, true)]);
        table(&mut catalog, 16410, "u", &u, &[("u_x_key", &[0], true, false), ("u_t_a_y_idx", &[2, 1], false, false)]);
        table(&mut catalog, 16420, "p", &p, &[("p_pkey", &[0, 1], true, true)]);
        table(&mut catalog, 16430, "m", &m, &[("m_pkey", &[0], true, true)]);
        let labels = ["sad", "ok", "happy"].iter().zip(1u16..);
        let labels = labels.map(|(label, order)| (16510 + u32::from(order), f32::from(order), Arc::from(*label)));
        let kind = UserTypeKind::Enum(labels.collect());
        let user = UserType { ty: mood, array: Type(16501), schema: PUBLIC, name: "mood".into(), kind };
        catalog.types.insert(mood.0, Arc::new(user));
        view(&mut catalog, 16440, "tv", "SELECT a AS id, b AS name FROM t WHERE c > 0");
        World { catalog, settings: Settings::default() }
    }
}

fn table(
    catalog: &mut Catalog,
    oid: Oid,
    name: &str,
    columns: &[(&str, Typed)],
    indexes: &[(&str, &[usize], bool, bool)],
) {
    let column = |(at, (name, typed)): (usize, &(&str, Typed))| Column {
        name: (*name).into(),
        typed: *typed,
        collation: 0,
        not_null: false,
        default: None,
        generation: Generation::Plain,
        sequence: None,
        cell: u32::try_from(at).expect("few columns"),
        dropped: false,
        missing: Datum::Null,
    };
    let row_type = Type(oid + 5);
    let index_oids: Vec<Oid> = (1..).take(indexes.len()).map(|at| oid + at).collect();
    let primary = indexes.iter().position(|(_, _, _, primary)| *primary).map(|at| index_oids[at]);
    let fields = columns.iter().map(|(name, typed)| (Arc::from(*name), *typed)).collect();
    let kind = UserTypeKind::Composite(fields);
    let user = UserType { ty: row_type, array: Type(oid + 6), schema: PUBLIC, name: name.into(), kind };
    catalog.types.insert(row_type.0, Arc::new(user));
    for ((name, keys, unique, primary), index_oid) in indexes.iter().zip(&index_oids) {
        let key = |column: &usize| IndexKey {
            what: IndexKeyKind::Column(*column),
            descending: false,
            nulls_first: false,
            collation: 0,
            class: None,
        };
        let constraint = unique.then_some(IndexConstraint { oid: 0, primary: *primary, timing: Timing::Immediate });
        let index = Index {
            table: oid,
            keys: keys.iter().map(key).collect(),
            include: Vec::new(),
            unique: *unique,
            nulls_not_distinct: false,
            predicate: None,
            constraint,
            space: (!primary).then(space),
            method: "btree".into(),
        };
        catalog.put_relation(Relation {
            oid: *index_oid,
            schema: PUBLIC,
            name: (*name).into(),
            kind: RelationKind::Index(index),
        });
    }
    let table = Table {
        columns: columns.iter().enumerate().map(column).collect(),
        indexes: index_oids,
        primary_key: primary,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        triggers: Vec::new(),
        unchecked: false,
        space: space(),
        clustered: indexes.iter().find(|index| index.3).map(|index| index.1.to_vec()).unwrap_or_default(),
        cells: vec![(0, u32::try_from(columns.len()).expect("few columns"))],
        row_type,
        on_commit: OnCommit::default(),
        unpopulated: false,
        view: None,
        unlogged: false,
        row_security: (false, false),
    };
    catalog.put_relation(Relation { oid, schema: PUBLIC, name: name.into(), kind: RelationKind::Table(table) });
}

fn space() -> Space {
    Space(1)
}

fn view(catalog: &mut Catalog, oid: Oid, name: &str, sql: &str) {
    let Some(crate::parse::Statement::Sql(statement)) = crate::parse::statement(sql).expect("a view parses") else {
        panic!("a view is a query")
    };
    let crate::parse::ast::Statement::Query(query) = *statement else { panic!("a view is a query") };
    let columns = vec![(Arc::from("id"), Type::INT4.into()), (Arc::from("name"), Type::TEXT.into())];
    let world = World { catalog: catalog.clone(), settings: Settings::default() };
    let query = crate::bind::Binder::new(&world, &[PUBLIC]).storing().query(&query).expect("a view is bound");
    let query = Arc::new(crate::catalog::StoredQuery::new(query, 0));
    let view = View { columns, query, materialized: None, check_option: None };
    catalog.put_relation(Relation { oid, schema: PUBLIC, name: name.into(), kind: RelationKind::View(view) });
}

impl types::Env for World {
    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn transaction_time(&self) -> i64 {
        0
    }

    fn defined(&self) -> &dyn Definitions {
        Env::catalog(self)
    }

    fn objects(&self) -> &dyn ObjectNames {
        Env::catalog(self)
    }
}

impl Env for World {
    fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    fn statement_time(&self) -> i64 {
        0
    }

    fn clock_time(&self) -> i64 {
        0
    }

    fn random_bits(&mut self) -> u64 {
        4
    }

    fn ask(&mut self, _question: Question<'_>) -> Result<Datum> {
        Ok(Datum::Null)
    }
}
