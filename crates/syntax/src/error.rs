//! What goes wrong, as PostgreSQL reports it: a SQLSTATE, a message, and the fields that drivers read.

use std::fmt;

/// A five-character SQLSTATE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SqlState(pub &'static str);

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        impl SqlState {
            $($(#[$doc])* #[doc = concat!("`", $code, "`")] pub const $name: SqlState = SqlState($code);)*

            /// Every state that is known by name, for PL/pgSQL's condition names: `(UPPER_NAME, state)`.
            pub const ALL: &'static [(&'static str, SqlState)] = &[$((stringify!($name), SqlState($code))),*];
        }
    };
}

states! {
    SUCCESSFUL_COMPLETION = "00000";
    WARNING = "01000";
    NO_DATA = "02000";
    CONNECTION_EXCEPTION = "08000";
    PROTOCOL_VIOLATION = "08P01";
    FEATURE_NOT_SUPPORTED = "0A000";
    CASE_NOT_FOUND = "20000";
    CARDINALITY_VIOLATION = "21000";
    DATA_EXCEPTION = "22000";
    STRING_DATA_RIGHT_TRUNCATION = "22001";
    NUMERIC_VALUE_OUT_OF_RANGE = "22003";
    NULL_VALUE_NOT_ALLOWED = "22004";
    INVALID_DATETIME_FORMAT = "22007";
    DATETIME_FIELD_OVERFLOW = "22008";
    SUBSTRING_ERROR = "22011";
    DIVISION_BY_ZERO = "22012";
    INTERVAL_FIELD_OVERFLOW = "22015";
    INVALID_ARGUMENT_FOR_LOG = "2201E";
    INVALID_ARGUMENT_FOR_NTH_VALUE = "22016";
    INVALID_ARGUMENT_FOR_NTILE = "22014";
    INVALID_ARGUMENT_FOR_POWER_FUNCTION = "2201F";
    INVALID_REGULAR_EXPRESSION = "2201B";
    INVALID_ROW_COUNT_IN_LIMIT_CLAUSE = "2201W";
    INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE = "2201X";
    INVALID_ESCAPE_SEQUENCE = "22025";
    INVALID_PARAMETER_VALUE = "22023";
    INVALID_TEXT_REPRESENTATION = "22P02";
    INVALID_BINARY_REPRESENTATION = "22P03";
    BAD_COPY_FILE_FORMAT = "22P04";
    UNTRANSLATABLE_CHARACTER = "22P05";
    CHARACTER_NOT_IN_REPERTOIRE = "22021";
    ARRAY_SUBSCRIPT_ERROR = "2202E";
    INTEGRITY_CONSTRAINT_VIOLATION = "23000";
    RESTRICT_VIOLATION = "23001";
    NOT_NULL_VIOLATION = "23502";
    FOREIGN_KEY_VIOLATION = "23503";
    UNIQUE_VIOLATION = "23505";
    CHECK_VIOLATION = "23514";
    EXCLUSION_VIOLATION = "23P01";
    INVALID_CURSOR_STATE = "24000";
    INVALID_TRANSACTION_STATE = "25000";
    ACTIVE_SQL_TRANSACTION = "25001";
    READ_ONLY_SQL_TRANSACTION = "25006";
    NO_ACTIVE_SQL_TRANSACTION = "25P01";
    IN_FAILED_SQL_TRANSACTION = "25P02";
    IDLE_IN_TRANSACTION_TIMEOUT = "25P03";
    INVALID_SQL_STATEMENT_NAME = "26000";
    TRIGGERED_DATA_CHANGE_VIOLATION = "27000";
    INVALID_AUTHORIZATION_SPECIFICATION = "28000";
    INVALID_PASSWORD = "28P01";
    DEPENDENT_OBJECTS_STILL_EXIST = "2BP01";
    INVALID_TRANSACTION_TERMINATION = "2D000";
    FUNCTION_EXECUTED_NO_RETURN_STATEMENT = "2F005";
    INVALID_CURSOR_NAME = "34000";
    SAVEPOINT_EXCEPTION = "3B000";
    INVALID_SAVEPOINT_SPECIFICATION = "3B001";
    INVALID_CATALOG_NAME = "3D000";
    INVALID_SCHEMA_NAME = "3F000";
    TRANSACTION_ROLLBACK = "40000";
    SERIALIZATION_FAILURE = "40001";
    DEADLOCK_DETECTED = "40P01";
    SYNTAX_ERROR = "42601";
    INSUFFICIENT_PRIVILEGE = "42501";
    CANNOT_COERCE = "42846";
    GROUPING_ERROR = "42803";
    WINDOWING_ERROR = "42P20";
    INVALID_RECURSION = "42P19";
    INVALID_FOREIGN_KEY = "42830";
    INVALID_NAME = "42602";
    NAME_TOO_LONG = "42622";
    RESERVED_NAME = "42939";
    DATATYPE_MISMATCH = "42804";
    INDETERMINATE_DATATYPE = "42P18";
    COLLATION_MISMATCH = "42P21";
    INDETERMINATE_COLLATION = "42P22";
    WRONG_OBJECT_TYPE = "42809";
    GENERATED_ALWAYS = "428C9";
    UNDEFINED_COLUMN = "42703";
    UNDEFINED_FUNCTION = "42883";
    UNDEFINED_TABLE = "42P01";
    UNDEFINED_PARAMETER = "42P02";
    UNDEFINED_OBJECT = "42704";
    DUPLICATE_COLUMN = "42701";
    DUPLICATE_CURSOR = "42P03";
    DUPLICATE_DATABASE = "42P04";
    DUPLICATE_FUNCTION = "42723";
    DUPLICATE_PREPARED_STATEMENT = "42P05";
    DUPLICATE_SCHEMA = "42P06";
    DUPLICATE_TABLE = "42P07";
    DUPLICATE_ALIAS = "42712";
    DUPLICATE_OBJECT = "42710";
    AMBIGUOUS_COLUMN = "42702";
    AMBIGUOUS_FUNCTION = "42725";
    AMBIGUOUS_PARAMETER = "42P08";
    INVALID_COLUMN_REFERENCE = "42P10";
    INVALID_COLUMN_DEFINITION = "42611";
    INVALID_FUNCTION_DEFINITION = "42P13";
    INVALID_SCHEMA_DEFINITION = "42P15";
    INVALID_TABLE_DEFINITION = "42P16";
    INVALID_OBJECT_DEFINITION = "42P17";
    WITH_CHECK_OPTION_VIOLATION = "44000";
    INSUFFICIENT_RESOURCES = "53000";
    OUT_OF_MEMORY = "53200";
    TOO_MANY_CONNECTIONS = "53300";
    PROGRAM_LIMIT_EXCEEDED = "54000";
    STATEMENT_TOO_COMPLEX = "54001";
    TOO_MANY_COLUMNS = "54011";
    OBJECT_NOT_IN_PREREQUISITE_STATE = "55000";
    OBJECT_IN_USE = "55006";
    CANT_CHANGE_RUNTIME_PARAM = "55P02";
    LOCK_NOT_AVAILABLE = "55P03";
    QUERY_CANCELED = "57014";
    CONNECTION_FAILURE = "08006";
    ADMIN_SHUTDOWN = "57P01";
    IDLE_SESSION_TIMEOUT = "57P05";
    RAISE_EXCEPTION = "P0001";
    NO_DATA_FOUND = "P0002";
    TOO_MANY_ROWS = "P0003";
    ASSERT_FAILURE = "P0004";
    INTERNAL_ERROR = "XX000";
}

/// What went wrong. Small to pass around: everything is behind one pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlError(Box<Fields>);

/// The fields of an error, as the wire names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The SQLSTATE. Owned, because RAISE makes up its own.
    pub code: String,
    /// The message, without a full stop, as PostgreSQL words it.
    pub message: String,
    /// A sentence on what exactly.
    pub detail: Option<String>,
    /// A sentence on what to do.
    pub hint: Option<String>,
    /// Where in the statement, in characters from one.
    pub position: Option<usize>,
    /// What was going on, innermost first.
    pub context: Option<String>,
    /// The schema concerned.
    pub schema: Option<String>,
    /// The table concerned.
    pub table: Option<String>,
    /// The column concerned.
    pub column: Option<String>,
    /// The type concerned.
    pub data_type: Option<String>,
    /// The constraint concerned.
    pub constraint: Option<String>,
}

/// The result of almost everything here.
pub type Result<T, E = SqlError> = std::result::Result<T, E>;

macro_rules! setters {
    ($($(#[$doc:meta])* $set:ident: $field:ident;)*) => {
        $($(#[$doc])* #[must_use] pub fn $set(mut self, text: impl Into<String>) -> Self {
            self.0.$field = Some(text.into());
            self
        })*
    };
}

impl SqlError {
    /// An error with a state and a message.
    pub fn new(state: SqlState, message: impl Into<String>) -> SqlError {
        SqlError::with_code(state.0, message)
    }

    /// An error with a state that is not one of ours, as RAISE makes it up.
    pub fn with_code(code: impl Into<String>, message: impl Into<String>) -> SqlError {
        SqlError(Box::new(Fields {
            code: code.into(),
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
        }))
    }

    /// This construct is outside of what Skew supports: `0A000`, which names it.
    pub fn unsupported(construct: impl fmt::Display) -> SqlError {
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{construct} is not supported by Skew"))
    }

    /// The statement is not well formed.
    pub fn syntax(message: impl Into<String>) -> SqlError {
        SqlError::new(SqlState::SYNTAX_ERROR, message)
    }

    setters! {
        /// Says exactly what.
        detail: detail;
        /// Says what to do.
        hint: hint;
        /// Names the schema.
        schema: schema;
        /// Names the table.
        table: table;
        /// Names the column.
        column: column;
        /// Names the type.
        data_type: data_type;
        /// Names the constraint.
        constraint: constraint;
    }

    /// Says where, in characters from one.
    #[must_use]
    pub fn at(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self
    }

    /// Forgets where: the place is in another text than the statement's.
    #[must_use]
    pub fn without_position(mut self) -> Self {
        self.0.position = None;
        self
    }

    /// Forgets the last line of what was going on around it.
    #[must_use]
    pub fn without_last_context(mut self) -> Self {
        if let Some(context) = &mut self.0.context {
            match context.rfind('\n') {
                Some(at) => context.truncate(at),
                None => self.0.context = None,
            }
        }
        self
    }

    /// Adds what was going on around it.
    #[must_use]
    pub fn within(mut self, context: impl AsRef<str>) -> Self {
        let known = self.0.context.get_or_insert_default();
        if !known.is_empty() {
            known.push('\n');
        }
        known.push_str(context.as_ref());
        self
    }

    /// Its fields.
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    /// Whether it has this state.
    pub fn is(&self, state: SqlState) -> bool {
        self.0.code == state.0
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for SqlError {}
