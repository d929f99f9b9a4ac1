//! Statements that change the schema, as written.

use crate::parse::ast::{DataType, Expr, Ident, ObjectName, Query};

/// A statement that changes the schema.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum Ddl {
    /// CREATE TABLE
    CreateTable(CreateTable),
    /// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW
    CreateTableAs(CreateTableAs),
    /// CREATE INDEX
    CreateIndex(CreateIndex),
    /// CREATE VIEW
    CreateView(CreateView),
    /// CREATE SEQUENCE
    CreateSequence {
        /// TEMPORARY
        temporary: bool,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// Its name.
        name: ObjectName,
        /// Its options.
        options: Vec<SequenceOption>,
    },
    /// CREATE SCHEMA
    CreateSchema {
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// Its name.
        name: String,
        /// What is made in it.
        elements: Vec<Ddl>,
    },
    /// CREATE TYPE
    CreateType {
        /// Its name.
        name: ObjectName,
        /// What it is.
        definition: TypeDefinition,
    },
    /// CREATE DOMAIN
    CreateDomain(CreateDomain),
    /// CREATE COLLATION
    CreateCollation(CreateCollation),
    /// CREATE EXTENSION
    CreateExtension(CreateExtension),
    /// CREATE FUNCTION, CREATE PROCEDURE
    CreateFunction(CreateFunction),
    /// CREATE TRIGGER
    CreateTrigger(CreateTrigger),
    /// ALTER TABLE (also of an index, a view, a sequence, where PostgreSQL lets it)
    AlterTable {
        /// The word after ALTER.
        object: ObjectKind,
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: ObjectName,
        /// What is done, in order.
        actions: Vec<TableAction>,
    },
    /// ALTER … RENAME TO, RENAME COLUMN, RENAME CONSTRAINT, RENAME ATTRIBUTE
    Rename(Rename),
    /// ALTER … SET SCHEMA
    SetSchema {
        /// What kind of object.
        object: ObjectKind,
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: ObjectRef,
        /// Its new schema.
        schema: Ident,
    },
    /// ALTER … OWNER TO: there is one owner.
    SetOwner {
        /// What kind of object.
        object: ObjectKind,
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: ObjectRef,
    },
    /// ALTER SEQUENCE
    AlterSequence {
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: ObjectName,
        /// What changes.
        options: Vec<SequenceOption>,
    },
    /// ALTER TYPE … ADD VALUE
    AddEnumValue {
        /// The enum.
        name: ObjectName,
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// The new label.
        value: String,
        /// BEFORE (true) or AFTER (false) this one; the last if not said.
        neighbour: Option<(bool, String)>,
    },
    /// ALTER TYPE … ADD, DROP, ALTER ATTRIBUTE
    AlterComposite {
        /// The composite type.
        name: ObjectName,
        /// What is done, in order.
        actions: Vec<AttributeAction>,
    },
    /// ALTER TYPE … RENAME VALUE
    RenameEnumValue {
        /// The enum.
        name: ObjectName,
        /// The old label.
        from: String,
        /// The new label.
        to: String,
    },
    /// ALTER DOMAIN
    AlterDomain {
        /// Which one.
        name: ObjectName,
        /// What is done.
        action: DomainAction,
    },
    /// ALTER FUNCTION, ALTER PROCEDURE: its options.
    AlterFunction {
        /// What kind of object.
        object: ObjectKind,
        /// Which one.
        name: ObjectRef,
        /// What changes.
        options: Vec<FunctionOption>,
    },
    /// DROP
    Drop {
        /// What kind of object.
        object: ObjectKind,
        /// IF EXISTS
        if_exists: bool,
        /// Which ones.
        names: Vec<ObjectRef>,
        /// CASCADE
        cascade: bool,
    },
    /// COMMENT ON
    Comment {
        /// What kind of object.
        object: ObjectKind,
        /// Which one.
        name: ObjectRef,
        /// The comment; `None` removes it.
        text: Option<String>,
    },
    /// TRUNCATE
    Truncate {
        /// The tables.
        tables: Vec<ObjectName>,
        /// RESTART IDENTITY
        restart_identity: bool,
        /// CASCADE
        cascade: bool,
    },
    /// REFRESH MATERIALIZED VIEW
    Refresh {
        /// Which one.
        name: ObjectName,
        /// WITH NO DATA is false.
        with_data: bool,
        /// CONCURRENTLY
        concurrently: bool,
    },
}

/// A kind of object, by its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ObjectKind {
    Table,
    Column,
    Index,
    View,
    MaterializedView,
    Sequence,
    Schema,
    Type,
    Domain,
    Function,
    Procedure,
    Routine,
    Aggregate,
    Trigger,
    Constraint,
    DomainConstraint,
    Extension,
    Database,
    Role,
    Collation,
    Rule,
    Policy,
    Operator,
    Cast,
    Language,
    ForeignTable,
    Server,
    Tablespace,
    Statistics,
    Publication,
    Subscription,
    Other,
}

/// Which object: its name, and what else it takes to know it.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectRef {
    /// Its name. Of a column it ends with the column's.
    pub name: ObjectName,
    /// The table of a trigger, a constraint, a rule; the domain of a constraint.
    pub of: Option<ObjectName>,
    /// The parameters of a function, if they are named.
    pub arguments: Option<Vec<FunctionParameter>>,
}

/// Whether a table lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Persistence {
    Permanent,
    Unlogged,
    Temporary,
}

/// What happens to a temporary table when its transaction ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum OnCommit {
    PreserveRows,
    DeleteRows,
    Drop,
}

/// CREATE TABLE
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTable {
    /// TEMPORARY, UNLOGGED
    pub persistence: Persistence,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Columns, constraints, LIKE, in order.
    pub elements: Vec<TableElement>,
    /// INHERITS
    pub inherits: Vec<ObjectName>,
    /// PARTITION BY, PARTITION OF, OF type, …: what Skew does not have.
    pub unsupported: Option<&'static str>,
    /// ON COMMIT
    pub on_commit: OnCommit,
}

/// A part of CREATE TABLE.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum TableElement {
    /// A column.
    Column(ColumnDefinition),
    /// A constraint.
    Constraint(TableConstraint),
    /// LIKE
    Like {
        /// Which table.
        table: ObjectName,
        /// INCLUDING and EXCLUDING, in order: what, and whether it is included.
        options: Vec<(LikeOption, bool)>,
    },
}

/// What LIKE takes over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LikeOption {
    Comments,
    Compression,
    Constraints,
    Defaults,
    Generated,
    Identity,
    Indexes,
    Statistics,
    Storage,
    All,
}

/// A column of CREATE TABLE or ADD COLUMN.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub data_type: DataType,
    /// COLLATE
    pub collation: Option<ObjectName>,
    /// Its constraints.
    pub constraints: Vec<ColumnConstraint>,
}

/// A constraint of a column.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnConstraint {
    /// CONSTRAINT name
    pub name: Option<Ident>,
    /// What it says.
    pub kind: ColumnConstraintKind,
    /// DEFERRABLE and so on.
    pub attributes: ConstraintAttributes,
}

/// What a constraint of a column says.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnConstraintKind {
    /// NOT NULL
    NotNull,
    /// NULL
    Null,
    /// DEFAULT
    Default(Expr),
    /// CHECK
    Check(Expr),
    /// UNIQUE
    Unique {
        /// NULLS NOT DISTINCT
        nulls_not_distinct: bool,
    },
    /// PRIMARY KEY
    PrimaryKey,
    /// REFERENCES
    References(References),
    /// GENERATED … AS IDENTITY
    Identity {
        /// ALWAYS rather than BY DEFAULT.
        always: bool,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// GENERATED ALWAYS AS (…) STORED
    Generated(Expr),
}

/// When a constraint is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConstraintAttributes {
    /// DEFERRABLE
    pub deferrable: bool,
    /// INITIALLY DEFERRED
    pub initially_deferred: bool,
    /// NOT VALID
    pub not_valid: bool,
    /// NO INHERIT
    pub no_inherit: bool,
}

/// REFERENCES
#[derive(Clone, PartialEq, Debug)]
pub struct References {
    /// The table.
    pub table: ObjectName,
    /// Its columns; the primary key's if none are named.
    pub columns: Vec<Ident>,
    /// MATCH FULL
    pub match_full: bool,
    /// MATCH PARTIAL, which PostgreSQL does not have either.
    pub match_partial: bool,
    /// ON DELETE
    pub on_delete: KeyAction,
    /// ON UPDATE
    pub on_update: KeyAction,
}

/// What happens to referring rows.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub enum KeyAction {
    NoAction,
    Restrict,
    Cascade,
    /// These columns; all if empty.
    SetNull(Vec<Ident>),
    /// These columns; all if empty.
    SetDefault(Vec<Ident>),
}

/// A constraint of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableConstraint {
    /// CONSTRAINT name
    pub name: Option<Ident>,
    /// What it says.
    pub kind: TableConstraintKind,
    /// DEFERRABLE and so on.
    pub attributes: ConstraintAttributes,
}

/// What a constraint of a table says.
#[derive(Clone, PartialEq, Debug)]
pub enum TableConstraintKind {
    /// CHECK
    Check(Expr),
    /// UNIQUE, PRIMARY KEY
    Unique {
        /// PRIMARY KEY
        primary: bool,
        /// NULLS NOT DISTINCT
        nulls_not_distinct: bool,
        /// Its columns.
        columns: Vec<Ident>,
        /// INCLUDE
        include: Vec<Ident>,
    },
    /// UNIQUE, PRIMARY KEY … USING INDEX
    UsingIndex {
        /// PRIMARY KEY
        primary: bool,
        /// The index.
        index: Ident,
    },
    /// FOREIGN KEY
    ForeignKey {
        /// Its columns.
        columns: Vec<Ident>,
        /// What they refer to.
        references: References,
    },
    /// EXCLUDE
    Exclude,
}

/// An option of a sequence.
#[derive(Clone, PartialEq, Debug)]
pub enum SequenceOption {
    /// AS type
    As(DataType),
    /// INCREMENT BY
    Increment(i64),
    /// MINVALUE; `None` is NO MINVALUE.
    Minimum(Option<i64>),
    /// MAXVALUE; `None` is NO MAXVALUE.
    Maximum(Option<i64>),
    /// START WITH
    Start(i64),
    /// RESTART; `None` is from its start.
    Restart(Option<i64>),
    /// CACHE
    Cache(i64),
    /// [NO] CYCLE
    Cycle(bool),
    /// OWNED BY table.column; `None` is OWNED BY NONE.
    OwnedBy(Option<ObjectName>),
    /// SEQUENCE NAME, of an identity column.
    Name(ObjectName),
    /// LOGGED, UNLOGGED
    Logged,
}

/// CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTableAs {
    /// TEMPORARY, UNLOGGED
    pub persistence: Persistence,
    /// MATERIALIZED VIEW
    pub materialized: bool,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of its columns, if said.
    pub columns: Vec<Ident>,
    /// What fills it.
    pub source: TableSource,
    /// The text of the query.
    pub text: String,
    /// WITH NO DATA is false.
    pub with_data: bool,
    /// ON COMMIT
    pub on_commit: OnCommit,
    /// SELECT INTO: the tag differs.
    pub select_into: bool,
}

/// What fills CREATE TABLE AS.
#[derive(Clone, PartialEq, Debug)]
pub enum TableSource {
    /// A query.
    Query(Box<Query>),
    /// EXECUTE of a prepared statement.
    Execute {
        /// Its name.
        name: String,
        /// Its parameters.
        arguments: Vec<Expr>,
    },
}

/// CREATE INDEX
#[derive(Clone, PartialEq, Debug)]
pub struct CreateIndex {
    /// UNIQUE
    pub unique: bool,
    /// CONCURRENTLY
    pub concurrently: bool,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Its name; PostgreSQL makes one up if there is none.
    pub name: Option<Ident>,
    /// The table.
    pub table: ObjectName,
    /// USING
    pub method: Option<String>,
    /// What it orders by.
    pub keys: Vec<IndexElement>,
    /// INCLUDE
    pub include: Vec<Ident>,
    /// NULLS NOT DISTINCT
    pub nulls_not_distinct: bool,
    /// WHERE
    pub predicate: Option<Expr>,
}

/// A key of an index.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexElement {
    /// A column (an identifier) or an expression.
    pub expr: Expr,
    /// COLLATE
    pub collation: Option<ObjectName>,
    /// The operator class.
    pub class: Option<ObjectName>,
    /// DESC
    pub descending: bool,
    /// NULLS FIRST or LAST, if said.
    pub nulls_first: Option<bool>,
}

/// CREATE VIEW
#[derive(Clone, PartialEq, Debug)]
pub struct CreateView {
    /// OR REPLACE
    pub or_replace: bool,
    /// TEMPORARY
    pub temporary: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names of its columns, if said.
    pub columns: Vec<Ident>,
    /// Its query.
    pub query: Box<Query>,
    /// The text of its query.
    pub text: String,
    /// WITH CHECK OPTION
    pub check_option: Option<CheckOption>,
}

/// What CREATE TYPE makes.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeDefinition {
    /// AS ENUM
    Enum(Vec<String>),
    /// AS (…)
    Composite(Vec<(Ident, DataType)>),
    /// AS RANGE, a base type, a shell: what Skew does not have.
    Unsupported(&'static str),
}

/// CREATE COLLATION
#[derive(Clone, PartialEq, Debug)]
pub struct CreateCollation {
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// FROM
    pub from: Option<ObjectName>,
    /// Names, in lower case, and values of its options.
    pub options: Vec<(String, String)>,
}

/// CREATE EXTENSION
#[derive(Clone, PartialEq, Debug)]
pub struct CreateExtension {
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// Its name.
    pub name: Ident,
    /// SCHEMA
    pub schema: Option<Ident>,
    /// VERSION
    pub version: Option<String>,
}

/// CREATE DOMAIN
#[derive(Clone, PartialEq, Debug)]
pub struct CreateDomain {
    /// Its name.
    pub name: ObjectName,
    /// The type below.
    pub data_type: DataType,
    /// COLLATE
    pub collation: Option<ObjectName>,
    /// Its constraints: NOT NULL, NULL, DEFAULT, CHECK.
    pub constraints: Vec<ColumnConstraint>,
}

/// What ALTER TYPE does to an attribute of a composite type.
#[derive(Clone, PartialEq, Debug)]
pub enum AttributeAction {
    /// ADD ATTRIBUTE
    Add {
        /// Its name.
        name: Ident,
        /// Its type.
        data_type: DataType,
    },
    /// DROP ATTRIBUTE
    Drop {
        /// Its name.
        name: Ident,
        /// IF EXISTS
        if_exists: bool,
        /// CASCADE
        cascade: bool,
    },
    /// ALTER ATTRIBUTE … TYPE
    Type {
        /// Its name.
        name: Ident,
        /// Its new type.
        data_type: DataType,
    },
}

/// What ALTER DOMAIN does.
#[derive(Clone, PartialEq, Debug)]
pub enum DomainAction {
    /// SET DEFAULT; `None` is DROP DEFAULT.
    Default(Option<Expr>),
    /// SET NOT NULL, DROP NOT NULL
    NotNull(bool),
    /// ADD CONSTRAINT
    Add(ColumnConstraint),
    /// DROP CONSTRAINT
    Drop {
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: String,
        /// CASCADE
        cascade: bool,
    },
    /// VALIDATE CONSTRAINT
    Validate(String),
}

/// CREATE FUNCTION, CREATE PROCEDURE
#[derive(Clone, PartialEq, Debug)]
pub struct CreateFunction {
    /// OR REPLACE
    pub or_replace: bool,
    /// PROCEDURE
    pub procedure: bool,
    /// Its name.
    pub name: ObjectName,
    /// Its parameters.
    pub parameters: Vec<FunctionParameter>,
    /// RETURNS
    pub returns: Option<FunctionReturns>,
    /// LANGUAGE and the rest, in order.
    pub options: Vec<FunctionOption>,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionParameter {
    /// IN, OUT, INOUT, VARIADIC, if said.
    pub mode: Option<ParameterMode>,
    /// Its name.
    pub name: Option<Ident>,
    /// Its type.
    pub data_type: TypeName,
    /// DEFAULT
    pub default: Option<Expr>,
}

/// Which way a parameter goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ParameterMode {
    In,
    Out,
    InOut,
    Variadic,
}

/// A type as a function's signature or a PL/pgSQL variable names it.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeName {
    /// A type.
    Plain(DataType),
    /// `SETOF type`
    SetOf(Box<TypeName>),
    /// `table.column%TYPE`, `variable%TYPE`
    TypeOf(ObjectName),
    /// `table%ROWTYPE`
    RowTypeOf(ObjectName),
}

/// What a function returns.
#[derive(Clone, PartialEq, Debug)]
pub enum FunctionReturns {
    /// RETURNS type
    Type(TypeName),
    /// RETURNS TABLE
    Table(Vec<(Ident, TypeName)>),
}

/// An option of a function.
#[derive(Clone, PartialEq, Debug)]
pub enum FunctionOption {
    /// LANGUAGE, in lower case.
    Language(String),
    /// AS 'text': between the dollars.
    Body(String),
    /// BEGIN ATOMIC … END: the text of its statements.
    SqlBody(String),
    /// RETURN …: as the text of a SELECT.
    Return(String),
    /// STRICT, RETURNS NULL ON NULL INPUT; false is CALLED ON NULL INPUT.
    Strict(bool),
    /// IMMUTABLE, STABLE, VOLATILE
    Volatility(Volatility),
    /// SET name = value; no values: DEFAULT, or FROM CURRENT.
    Set(String, Vec<String>),
    /// RESET name; all if `None`.
    Reset(Option<String>),
    /// SECURITY DEFINER; false is SECURITY INVOKER.
    SecurityDefiner(bool),
    /// LEAKPROOF; false is NOT LEAKPROOF.
    Leakproof(bool),
    /// PARALLEL, in lower case.
    Parallel(String),
    /// COST
    Cost(f64),
    /// ROWS
    Rows(f64),
    /// WINDOW, a C body, TRANSFORM: what Skew does not have.
    Unsupported(&'static str),
}

/// CREATE TRIGGER
#[derive(Clone, PartialEq, Debug)]
pub struct CreateTrigger {
    /// OR REPLACE
    pub or_replace: bool,
    /// CONSTRAINT
    pub constraint: bool,
    /// Its name.
    pub name: String,
    /// BEFORE, AFTER, INSTEAD OF
    pub time: TriggerTime,
    /// INSERT
    pub insert: bool,
    /// UPDATE, of these columns (all if empty)
    pub update: Option<Vec<Ident>>,
    /// DELETE
    pub delete: bool,
    /// TRUNCATE
    pub truncate: bool,
    /// Its table.
    pub table: ObjectName,
    /// REFERENCING: whether there are transition tables.
    pub referencing: bool,
    /// FOR EACH ROW
    pub each_row: bool,
    /// WHEN
    pub condition: Option<Expr>,
    /// The function.
    pub function: ObjectName,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// DEFERRABLE and so on.
    pub attributes: ConstraintAttributes,
}

/// Which triggers ENABLE and DISABLE mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WhichTriggers {
    /// This one.
    Named(String),
    /// USER
    User,
    /// ALL: those that look after foreign keys, too.
    All,
}

/// What ALTER TABLE does.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant)]
pub enum TableAction {
    /// ADD COLUMN
    AddColumn {
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// The column.
        column: ColumnDefinition,
    },
    /// DROP COLUMN
    DropColumn {
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: Ident,
        /// CASCADE
        cascade: bool,
    },
    /// ALTER COLUMN … TYPE
    SetType {
        /// Which column.
        name: Ident,
        /// Its new type.
        data_type: DataType,
        /// COLLATE
        collation: Option<ObjectName>,
        /// USING
        using: Option<Expr>,
    },
    /// ALTER COLUMN … SET DEFAULT; `None` is DROP DEFAULT.
    SetDefault {
        /// Which column.
        name: Ident,
        /// The default.
        default: Option<Expr>,
    },
    /// ALTER COLUMN … SET NOT NULL, DROP NOT NULL
    SetNotNull {
        /// Which column.
        name: Ident,
        /// SET rather than DROP.
        not_null: bool,
    },
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY
    AddIdentity {
        /// Which column.
        name: Ident,
        /// ALWAYS rather than BY DEFAULT.
        always: bool,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// ALTER COLUMN … SET GENERATED …, SET sequence option, RESTART
    SetIdentity {
        /// Which column.
        name: Ident,
        /// ALWAYS rather than BY DEFAULT, if said.
        always: Option<bool>,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// ALTER COLUMN … DROP IDENTITY
    DropIdentity {
        /// Which column.
        name: Ident,
        /// IF EXISTS
        if_exists: bool,
    },
    /// ALTER COLUMN … DROP EXPRESSION
    DropExpression {
        /// Which column.
        name: Ident,
        /// IF EXISTS
        if_exists: bool,
    },
    /// ADD CONSTRAINT
    AddConstraint(TableConstraint),
    /// DROP CONSTRAINT
    DropConstraint {
        /// IF EXISTS
        if_exists: bool,
        /// Which one.
        name: String,
        /// CASCADE
        cascade: bool,
    },
    /// ALTER CONSTRAINT
    AlterConstraint {
        /// Which one.
        name: String,
        /// DEFERRABLE and so on.
        attributes: ConstraintAttributes,
    },
    /// VALIDATE CONSTRAINT
    ValidateConstraint(String),
    /// ENABLE TRIGGER, DISABLE TRIGGER
    EnableTrigger {
        /// Which.
        which: WhichTriggers,
        /// ENABLE rather than DISABLE.
        enable: bool,
    },
    /// ENABLE or DISABLE ROW LEVEL SECURITY
    RowSecurity(bool),
    /// FORCE or NO FORCE ROW LEVEL SECURITY
    ForceRowSecurity(bool),
    /// OWNER TO, SET STATISTICS, SET STORAGE, SET (…), CLUSTER ON, …: accepted.
    Ignored,
    /// INHERIT, ATTACH PARTITION, …: what Skew does not have.
    Unsupported(&'static str),
}

/// ALTER … RENAME
#[derive(Clone, PartialEq, Debug)]
pub struct Rename {
    /// What kind of object the statement names.
    pub object: ObjectKind,
    /// IF EXISTS
    pub if_exists: bool,
    /// Which one.
    pub name: ObjectRef,
    /// What of it is renamed.
    pub what: RenameWhat,
    /// The new name.
    pub to: String,
}

/// What ALTER … RENAME renames.
#[derive(Clone, PartialEq, Debug)]
pub enum RenameWhat {
    /// The object itself.
    Object,
    /// A column of it (or an attribute).
    Column(String),
    /// A constraint of it.
    Constraint(String),
}

/// How much the result of a function depends on the world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Volatility {
    Immutable,
    Stable,
    Volatile,
}

/// WITH CHECK OPTION: new rows have to be visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckOption {
    /// In this view.
    Local,
    /// In those below, too.
    Cascaded,
}

/// When a trigger fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum TriggerTime {
    Before,
    After,
    InsteadOf,
}
