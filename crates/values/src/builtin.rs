//! The built-in types, as `pg_type` of PostgreSQL 15 lists them.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::Type;

/// A row of `pg_type`.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The type.
    pub ty: Type,
    /// `typname`
    pub name: &'static str,
    /// As `format_type` shows it without a modifier.
    pub sql_name: &'static str,
    /// `typlen`: bytes, -1 for variable, -2 for C strings.
    pub length: i16,
    /// `typbyval`
    pub by_value: bool,
    /// `typtype`: `b`ase, `p`seudo, `r`ange, `m`ultirange.
    pub kind: char,
    /// `typcategory`
    pub category: char,
    /// `typispreferred`
    pub preferred: bool,
    /// `typdelim`: what separates items of an array.
    pub delimiter: char,
    /// `typelem`
    pub element: Option<Type>,
    /// `typarray`
    pub array: Option<Type>,
    /// `typalign`
    pub align: char,
    /// `typstorage`
    pub storage: char,
    /// `typcollation`: 100 is the default, 950 is "C".
    pub collation: u32,
}

impl Builtin {
    /// Whether it is an array type proper (`_int4`), which is what subscripts and `ANYARRAY` take.
    pub fn is_array(&self) -> bool {
        self.category == 'A' && self.name.as_bytes()[0] == b'_'
    }
}

/// All of them, by number.
pub fn all() -> &'static [Builtin] {
    BUILTIN
}

/// The one with this number.
pub fn by_oid(ty: Type) -> Option<&'static Builtin> {
    BUILTIN.binary_search_by_key(&ty.0, |builtin| builtin.ty.0).ok().map(|at| &BUILTIN[at])
}

/// The one with this `typname`.
pub fn by_name(name: &str) -> Option<&'static Builtin> {
    static NAMES: LazyLock<FxHashMap<&'static str, usize>> =
        LazyLock::new(|| BUILTIN.iter().enumerate().map(|(at, builtin)| (builtin.name, at)).collect());
    NAMES.get(name).map(|&at| &BUILTIN[at])
}

/// The letters are kind, category, preferred, delimiter, alignment, storage, by value or by reference.
#[allow(clippy::too_many_arguments)]
const fn row(
    oid: u32,
    name: &'static str,
    sql_name: &'static str,
    length: i16,
    element: u32,
    array: u32,
    collation: u32,
    letters: &[u8; 7],
) -> Builtin {
    Builtin {
        ty: Type(oid),
        name,
        sql_name,
        length,
        by_value: letters[6] == b'v',
        kind: letters[0] as char,
        category: letters[1] as char,
        preferred: letters[2] == b'+',
        delimiter: letters[3] as char,
        element: if element == 0 { None } else { Some(Type(element)) },
        array: if array == 0 { None } else { Some(Type(array)) },
        align: letters[4] as char,
        storage: letters[5] as char,
        collation,
    }
}

#[rustfmt::skip]
static BUILTIN: &[Builtin] = &[
    row(16, "bool", "boolean", 1, 0, 1000, 0, b"bB+,cpv"),
    row(17, "bytea", "bytea", -1, 0, 1001, 0, b"bU-,ixr"),
    row(18, "char", "\"char\"", 1, 0, 1002, 0, b"bZ-,cpv"),
    row(19, "name", "name", 64, 18, 1003, 950, b"bS-,cpr"),
    row(20, "int8", "bigint", 8, 0, 1016, 0, b"bN-,dpv"),
    row(21, "int2", "smallint", 2, 0, 1005, 0, b"bN-,spv"),
    row(22, "int2vector", "int2vector", -1, 21, 1006, 0, b"bA-,ipr"),
    row(23, "int4", "integer", 4, 0, 1007, 0, b"bN-,ipv"),
    row(24, "regproc", "regproc", 4, 0, 1008, 0, b"bN-,ipv"),
    row(25, "text", "text", -1, 0, 1009, 100, b"bS+,ixr"),
    row(26, "oid", "oid", 4, 0, 1028, 0, b"bN+,ipv"),
    row(27, "tid", "tid", 6, 0, 1010, 0, b"bU-,spr"),
    row(28, "xid", "xid", 4, 0, 1011, 0, b"bU-,ipv"),
    row(29, "cid", "cid", 4, 0, 1012, 0, b"bU-,ipv"),
    row(30, "oidvector", "oidvector", -1, 26, 1013, 0, b"bA-,ipr"),
    row(32, "pg_ddl_command", "pg_ddl_command", 8, 0, 0, 0, b"pP-,dpv"),
    row(114, "json", "json", -1, 0, 199, 0, b"bU-,ixr"),
    row(142, "xml", "xml", -1, 0, 143, 0, b"bU-,ixr"),
    row(143, "_xml", "xml[]", -1, 142, 0, 0, b"bA-,ixr"),
    row(194, "pg_node_tree", "pg_node_tree", -1, 0, 0, 100, b"bZ-,ixr"),
    row(199, "_json", "json[]", -1, 114, 0, 0, b"bA-,ixr"),
    row(269, "table_am_handler", "table_am_handler", 4, 0, 0, 0, b"pP-,ipv"),
    row(271, "_xid8", "xid8[]", -1, 5069, 0, 0, b"bA-,dxr"),
    row(325, "index_am_handler", "index_am_handler", 4, 0, 0, 0, b"pP-,ipv"),
    row(600, "point", "point", 16, 701, 1017, 0, b"bG-,dpr"),
    row(601, "lseg", "lseg", 32, 600, 1018, 0, b"bG-,dpr"),
    row(602, "path", "path", -1, 0, 1019, 0, b"bG-,dxr"),
    row(603, "box", "box", 32, 600, 1020, 0, b"bG-;dpr"),
    row(604, "polygon", "polygon", -1, 0, 1027, 0, b"bG-,dxr"),
    row(628, "line", "line", 24, 701, 629, 0, b"bG-,dpr"),
    row(629, "_line", "line[]", -1, 628, 0, 0, b"bA-,dxr"),
    row(650, "cidr", "cidr", -1, 0, 651, 0, b"bI-,imr"),
    row(651, "_cidr", "cidr[]", -1, 650, 0, 0, b"bA-,ixr"),
    row(700, "float4", "real", 4, 0, 1021, 0, b"bN-,ipv"),
    row(701, "float8", "double precision", 8, 0, 1022, 0, b"bN+,dpv"),
    row(705, "unknown", "unknown", -2, 0, 0, 0, b"pX-,cpr"),
    row(718, "circle", "circle", 24, 0, 719, 0, b"bG-,dpr"),
    row(719, "_circle", "circle[]", -1, 718, 0, 0, b"bA-,dxr"),
    row(774, "macaddr8", "macaddr8", 8, 0, 775, 0, b"bU-,ipr"),
    row(775, "_macaddr8", "macaddr8[]", -1, 774, 0, 0, b"bA-,ixr"),
    row(790, "money", "money", 8, 0, 791, 0, b"bN-,dpv"),
    row(791, "_money", "money[]", -1, 790, 0, 0, b"bA-,dxr"),
    row(829, "macaddr", "macaddr", 6, 0, 1040, 0, b"bU-,ipr"),
    row(869, "inet", "inet", -1, 0, 1041, 0, b"bI+,imr"),
    row(1000, "_bool", "boolean[]", -1, 16, 0, 0, b"bA-,ixr"),
    row(1001, "_bytea", "bytea[]", -1, 17, 0, 0, b"bA-,ixr"),
    row(1002, "_char", "\"char\"[]", -1, 18, 0, 0, b"bA-,ixr"),
    row(1003, "_name", "name[]", -1, 19, 0, 950, b"bA-,ixr"),
    row(1005, "_int2", "smallint[]", -1, 21, 0, 0, b"bA-,ixr"),
    row(1006, "_int2vector", "int2vector[]", -1, 22, 0, 0, b"bA-,ixr"),
    row(1007, "_int4", "integer[]", -1, 23, 0, 0, b"bA-,ixr"),
    row(1008, "_regproc", "regproc[]", -1, 24, 0, 0, b"bA-,ixr"),
    row(1009, "_text", "text[]", -1, 25, 0, 100, b"bA-,ixr"),
    row(1010, "_tid", "tid[]", -1, 27, 0, 0, b"bA-,ixr"),
    row(1011, "_xid", "xid[]", -1, 28, 0, 0, b"bA-,ixr"),
    row(1012, "_cid", "cid[]", -1, 29, 0, 0, b"bA-,ixr"),
    row(1013, "_oidvector", "oidvector[]", -1, 30, 0, 0, b"bA-,ixr"),
    row(1014, "_bpchar", "character[]", -1, 1042, 0, 100, b"bA-,ixr"),
    row(1015, "_varchar", "character varying[]", -1, 1043, 0, 100, b"bA-,ixr"),
    row(1016, "_int8", "bigint[]", -1, 20, 0, 0, b"bA-,dxr"),
    row(1017, "_point", "point[]", -1, 600, 0, 0, b"bA-,dxr"),
    row(1018, "_lseg", "lseg[]", -1, 601, 0, 0, b"bA-,dxr"),
    row(1019, "_path", "path[]", -1, 602, 0, 0, b"bA-,dxr"),
    row(1020, "_box", "box[]", -1, 603, 0, 0, b"bA-;dxr"),
    row(1021, "_float4", "real[]", -1, 700, 0, 0, b"bA-,ixr"),
    row(1022, "_float8", "double precision[]", -1, 701, 0, 0, b"bA-,dxr"),
    row(1027, "_polygon", "polygon[]", -1, 604, 0, 0, b"bA-,dxr"),
    row(1028, "_oid", "oid[]", -1, 26, 0, 0, b"bA-,ixr"),
    row(1033, "aclitem", "aclitem", 12, 0, 1034, 0, b"bU-,ipr"),
    row(1034, "_aclitem", "aclitem[]", -1, 1033, 0, 0, b"bA-,ixr"),
    row(1040, "_macaddr", "macaddr[]", -1, 829, 0, 0, b"bA-,ixr"),
    row(1041, "_inet", "inet[]", -1, 869, 0, 0, b"bA-,ixr"),
    row(1042, "bpchar", "character", -1, 0, 1014, 100, b"bS-,ixr"),
    row(1043, "varchar", "character varying", -1, 0, 1015, 100, b"bS-,ixr"),
    row(1082, "date", "date", 4, 0, 1182, 0, b"bD-,ipv"),
    row(1083, "time", "time without time zone", 8, 0, 1183, 0, b"bD-,dpv"),
    row(1114, "timestamp", "timestamp without time zone", 8, 0, 1115, 0, b"bD-,dpv"),
    row(1115, "_timestamp", "timestamp without time zone[]", -1, 1114, 0, 0, b"bA-,dxr"),
    row(1182, "_date", "date[]", -1, 1082, 0, 0, b"bA-,ixr"),
    row(1183, "_time", "time without time zone[]", -1, 1083, 0, 0, b"bA-,dxr"),
    row(1184, "timestamptz", "timestamp with time zone", 8, 0, 1185, 0, b"bD+,dpv"),
    row(1185, "_timestamptz", "timestamp with time zone[]", -1, 1184, 0, 0, b"bA-,dxr"),
    row(1186, "interval", "interval", 16, 0, 1187, 0, b"bT+,dpr"),
    row(1187, "_interval", "interval[]", -1, 1186, 0, 0, b"bA-,dxr"),
    row(1231, "_numeric", "numeric[]", -1, 1700, 0, 0, b"bA-,ixr"),
    row(1263, "_cstring", "cstring[]", -1, 2275, 0, 0, b"bA-,ixr"),
    row(1266, "timetz", "time with time zone", 12, 0, 1270, 0, b"bD-,dpr"),
    row(1270, "_timetz", "time with time zone[]", -1, 1266, 0, 0, b"bA-,dxr"),
    row(1560, "bit", "bit", -1, 0, 1561, 0, b"bV-,ixr"),
    row(1561, "_bit", "bit[]", -1, 1560, 0, 0, b"bA-,ixr"),
    row(1562, "varbit", "bit varying", -1, 0, 1563, 0, b"bV+,ixr"),
    row(1563, "_varbit", "bit varying[]", -1, 1562, 0, 0, b"bA-,ixr"),
    row(1700, "numeric", "numeric", -1, 0, 1231, 0, b"bN-,imr"),
    row(1790, "refcursor", "refcursor", -1, 0, 2201, 0, b"bU-,ixr"),
    row(2201, "_refcursor", "refcursor[]", -1, 1790, 0, 0, b"bA-,ixr"),
    row(2202, "regprocedure", "regprocedure", 4, 0, 2207, 0, b"bN-,ipv"),
    row(2203, "regoper", "regoper", 4, 0, 2208, 0, b"bN-,ipv"),
    row(2204, "regoperator", "regoperator", 4, 0, 2209, 0, b"bN-,ipv"),
    row(2205, "regclass", "regclass", 4, 0, 2210, 0, b"bN-,ipv"),
    row(2206, "regtype", "regtype", 4, 0, 2211, 0, b"bN-,ipv"),
    row(2207, "_regprocedure", "regprocedure[]", -1, 2202, 0, 0, b"bA-,ixr"),
    row(2208, "_regoper", "regoper[]", -1, 2203, 0, 0, b"bA-,ixr"),
    row(2209, "_regoperator", "regoperator[]", -1, 2204, 0, 0, b"bA-,ixr"),
    row(2210, "_regclass", "regclass[]", -1, 2205, 0, 0, b"bA-,ixr"),
    row(2211, "_regtype", "regtype[]", -1, 2206, 0, 0, b"bA-,ixr"),
    row(2249, "record", "record", -1, 0, 2287, 0, b"pP-,dxr"),
    row(2275, "cstring", "cstring", -2, 0, 1263, 0, b"pP-,cpr"),
    row(2276, "any", "\"any\"", 4, 0, 0, 0, b"pP-,ipv"),
    row(2277, "anyarray", "anyarray", -1, 0, 0, 0, b"pP-,dxr"),
    row(2278, "void", "void", 4, 0, 0, 0, b"pP-,ipv"),
    row(2279, "trigger", "trigger", 4, 0, 0, 0, b"pP-,ipv"),
    row(2280, "language_handler", "language_handler", 4, 0, 0, 0, b"pP-,ipv"),
    row(2281, "internal", "internal", 8, 0, 0, 0, b"pP-,dpv"),
    row(2283, "anyelement", "anyelement", 4, 0, 0, 0, b"pP-,ipv"),
    row(2287, "_record", "record[]", -1, 2249, 0, 0, b"pP-,dxr"),
    row(2776, "anynonarray", "anynonarray", 4, 0, 0, 0, b"pP-,ipv"),
    row(2949, "_txid_snapshot", "txid_snapshot[]", -1, 2970, 0, 0, b"bA-,dxr"),
    row(2950, "uuid", "uuid", 16, 0, 2951, 0, b"bU-,cpr"),
    row(2951, "_uuid", "uuid[]", -1, 2950, 0, 0, b"bA-,ixr"),
    row(2970, "txid_snapshot", "txid_snapshot", -1, 0, 2949, 0, b"bU-,dxr"),
    row(3115, "fdw_handler", "fdw_handler", 4, 0, 0, 0, b"pP-,ipv"),
    row(3220, "pg_lsn", "pg_lsn", 8, 0, 3221, 0, b"bU-,dpv"),
    row(3221, "_pg_lsn", "pg_lsn[]", -1, 3220, 0, 0, b"bA-,dxr"),
    row(3310, "tsm_handler", "tsm_handler", 4, 0, 0, 0, b"pP-,ipv"),
    row(3361, "pg_ndistinct", "pg_ndistinct", -1, 0, 0, 100, b"bZ-,ixr"),
    row(3402, "pg_dependencies", "pg_dependencies", -1, 0, 0, 100, b"bZ-,ixr"),
    row(3500, "anyenum", "anyenum", 4, 0, 0, 0, b"pP-,ipv"),
    row(3614, "tsvector", "tsvector", -1, 0, 3643, 0, b"bU-,ixr"),
    row(3615, "tsquery", "tsquery", -1, 0, 3645, 0, b"bU-,ipr"),
    row(3642, "gtsvector", "gtsvector", -1, 0, 3644, 0, b"bU-,ipr"),
    row(3643, "_tsvector", "tsvector[]", -1, 3614, 0, 0, b"bA-,ixr"),
    row(3644, "_gtsvector", "gtsvector[]", -1, 3642, 0, 0, b"bA-,ixr"),
    row(3645, "_tsquery", "tsquery[]", -1, 3615, 0, 0, b"bA-,ixr"),
    row(3734, "regconfig", "regconfig", 4, 0, 3735, 0, b"bN-,ipv"),
    row(3735, "_regconfig", "regconfig[]", -1, 3734, 0, 0, b"bA-,ixr"),
    row(3769, "regdictionary", "regdictionary", 4, 0, 3770, 0, b"bN-,ipv"),
    row(3770, "_regdictionary", "regdictionary[]", -1, 3769, 0, 0, b"bA-,ixr"),
    row(3802, "jsonb", "jsonb", -1, 0, 3807, 0, b"bU-,ixr"),
    row(3807, "_jsonb", "jsonb[]", -1, 3802, 0, 0, b"bA-,ixr"),
    row(3831, "anyrange", "anyrange", -1, 0, 0, 0, b"pP-,dxr"),
    row(3838, "event_trigger", "event_trigger", 4, 0, 0, 0, b"pP-,ipv"),
    row(3904, "int4range", "int4range", -1, 0, 3905, 0, b"rR-,ixr"),
    row(3905, "_int4range", "int4range[]", -1, 3904, 0, 0, b"bA-,ixr"),
    row(3906, "numrange", "numrange", -1, 0, 3907, 0, b"rR-,ixr"),
    row(3907, "_numrange", "numrange[]", -1, 3906, 0, 0, b"bA-,ixr"),
    row(3908, "tsrange", "tsrange", -1, 0, 3909, 0, b"rR-,dxr"),
    row(3909, "_tsrange", "tsrange[]", -1, 3908, 0, 0, b"bA-,dxr"),
    row(3910, "tstzrange", "tstzrange", -1, 0, 3911, 0, b"rR-,dxr"),
    row(3911, "_tstzrange", "tstzrange[]", -1, 3910, 0, 0, b"bA-,dxr"),
    row(3912, "daterange", "daterange", -1, 0, 3913, 0, b"rR-,ixr"),
    row(3913, "_daterange", "daterange[]", -1, 3912, 0, 0, b"bA-,ixr"),
    row(3926, "int8range", "int8range", -1, 0, 3927, 0, b"rR-,dxr"),
    row(3927, "_int8range", "int8range[]", -1, 3926, 0, 0, b"bA-,dxr"),
    row(4072, "jsonpath", "jsonpath", -1, 0, 4073, 0, b"bU-,ixr"),
    row(4073, "_jsonpath", "jsonpath[]", -1, 4072, 0, 0, b"bA-,ixr"),
    row(4089, "regnamespace", "regnamespace", 4, 0, 4090, 0, b"bN-,ipv"),
    row(4090, "_regnamespace", "regnamespace[]", -1, 4089, 0, 0, b"bA-,ixr"),
    row(4096, "regrole", "regrole", 4, 0, 4097, 0, b"bN-,ipv"),
    row(4097, "_regrole", "regrole[]", -1, 4096, 0, 0, b"bA-,ixr"),
    row(4191, "regcollation", "regcollation", 4, 0, 4192, 0, b"bN-,ipv"),
    row(4192, "_regcollation", "regcollation[]", -1, 4191, 0, 0, b"bA-,ixr"),
    row(4451, "int4multirange", "int4multirange", -1, 0, 6150, 0, b"mR-,ixr"),
    row(4532, "nummultirange", "nummultirange", -1, 0, 6151, 0, b"mR-,ixr"),
    row(4533, "tsmultirange", "tsmultirange", -1, 0, 6152, 0, b"mR-,dxr"),
    row(4534, "tstzmultirange", "tstzmultirange", -1, 0, 6153, 0, b"mR-,dxr"),
    row(4535, "datemultirange", "datemultirange", -1, 0, 6155, 0, b"mR-,ixr"),
    row(4536, "int8multirange", "int8multirange", -1, 0, 6157, 0, b"mR-,dxr"),
    row(4537, "anymultirange", "anymultirange", -1, 0, 0, 0, b"pP-,dxr"),
    row(4538, "anycompatiblemultirange", "anycompatiblemultirange", -1, 0, 0, 0, b"pP-,dxr"),
    row(4600, "pg_brin_bloom_summary", "pg_brin_bloom_summary", -1, 0, 0, 100, b"bZ-,ixr"),
    row(4601, "pg_brin_minmax_multi_summary", "pg_brin_minmax_multi_summary", -1, 0, 0, 100, b"bZ-,ixr"),
    row(5017, "pg_mcv_list", "pg_mcv_list", -1, 0, 0, 100, b"bZ-,ixr"),
    row(5038, "pg_snapshot", "pg_snapshot", -1, 0, 5039, 0, b"bU-,dxr"),
    row(5039, "_pg_snapshot", "pg_snapshot[]", -1, 5038, 0, 0, b"bA-,dxr"),
    row(5069, "xid8", "xid8", 8, 0, 271, 0, b"bU-,dpv"),
    row(5077, "anycompatible", "anycompatible", 4, 0, 0, 0, b"pP-,ipv"),
    row(5078, "anycompatiblearray", "anycompatiblearray", -1, 0, 0, 0, b"pP-,dxr"),
    row(5079, "anycompatiblenonarray", "anycompatiblenonarray", 4, 0, 0, 0, b"pP-,ipv"),
    row(5080, "anycompatiblerange", "anycompatiblerange", -1, 0, 0, 0, b"pP-,dxr"),
    row(6150, "_int4multirange", "int4multirange[]", -1, 4451, 0, 0, b"bA-,ixr"),
    row(6151, "_nummultirange", "nummultirange[]", -1, 4532, 0, 0, b"bA-,ixr"),
    row(6152, "_tsmultirange", "tsmultirange[]", -1, 4533, 0, 0, b"bA-,dxr"),
    row(6153, "_tstzmultirange", "tstzmultirange[]", -1, 4534, 0, 0, b"bA-,dxr"),
    row(6155, "_datemultirange", "datemultirange[]", -1, 4535, 0, 0, b"bA-,ixr"),
    row(6157, "_int8multirange", "int8multirange[]", -1, 4536, 0, 0, b"bA-,dxr"),
];
