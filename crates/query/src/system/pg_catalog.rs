//! The tables and views of `pg_catalog`, as PostgreSQL 15 defines them.

use super::{Kind, SystemTable};
use crate::types::Type;

/// The tables, by name.
#[rustfmt::skip]
pub(super) static TABLES: &[SystemTable] = &[
    SystemTable { schema: "pg_catalog", name: "pg_aggregate", oid: 2600, kind: Kind::Table, columns: &[
        ("aggfnoid", Type::REGPROC), ("aggkind", Type::CHAR_INTERNAL), ("aggnumdirectargs", Type::INT2),
        ("aggtransfn", Type::REGPROC), ("aggfinalfn", Type::REGPROC), ("aggcombinefn", Type::REGPROC),
        ("aggserialfn", Type::REGPROC), ("aggdeserialfn", Type::REGPROC), ("aggmtransfn", Type::REGPROC),
        ("aggminvtransfn", Type::REGPROC), ("aggmfinalfn", Type::REGPROC), ("aggfinalextra", Type::BOOL),
        ("aggmfinalextra", Type::BOOL), ("aggfinalmodify", Type::CHAR_INTERNAL),
        ("aggmfinalmodify", Type::CHAR_INTERNAL), ("aggsortop", Type::OID), ("aggtranstype", Type::OID),
        ("aggtransspace", Type::INT4), ("aggmtranstype", Type::OID), ("aggmtransspace", Type::INT4),
        ("agginitval", Type::TEXT), ("aggminitval", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_am", oid: 2601, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("amname", Type::NAME), ("amhandler", Type::REGPROC), ("amtype", Type::CHAR_INTERNAL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_amop", oid: 2602, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("amopfamily", Type::OID), ("amoplefttype", Type::OID), ("amoprighttype", Type::OID),
        ("amopstrategy", Type::INT2), ("amoppurpose", Type::CHAR_INTERNAL), ("amopopr", Type::OID),
        ("amopmethod", Type::OID), ("amopsortfamily", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_amproc", oid: 2603, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("amprocfamily", Type::OID), ("amproclefttype", Type::OID),
        ("amprocrighttype", Type::OID), ("amprocnum", Type::INT2), ("amproc", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_attrdef", oid: 2604, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("adrelid", Type::OID), ("adnum", Type::INT2), ("adbin", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_attribute", oid: 1249, kind: Kind::Table, columns: &[
        ("attrelid", Type::OID), ("attname", Type::NAME), ("atttypid", Type::OID), ("attstattarget", Type::INT4),
        ("attlen", Type::INT2), ("attnum", Type::INT2), ("attndims", Type::INT4), ("attcacheoff", Type::INT4),
        ("atttypmod", Type::INT4), ("attbyval", Type::BOOL), ("attalign", Type::CHAR_INTERNAL),
        ("attstorage", Type::CHAR_INTERNAL), ("attcompression", Type::CHAR_INTERNAL), ("attnotnull", Type::BOOL),
        ("atthasdef", Type::BOOL), ("atthasmissing", Type::BOOL), ("attidentity", Type::CHAR_INTERNAL),
        ("attgenerated", Type::CHAR_INTERNAL), ("attisdropped", Type::BOOL), ("attislocal", Type::BOOL),
        ("attinhcount", Type::INT4), ("attcollation", Type::OID), ("attacl", Type::ACLITEM_ARRAY),
        ("attoptions", Type::TEXT_ARRAY), ("attfdwoptions", Type::TEXT_ARRAY), ("attmissingval", Type::ANYARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_auth_members", oid: 1261, kind: Kind::Table, columns: &[
        ("roleid", Type::OID), ("member", Type::OID), ("grantor", Type::OID), ("admin_option", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_authid", oid: 1260, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("rolname", Type::NAME), ("rolsuper", Type::BOOL), ("rolinherit", Type::BOOL),
        ("rolcreaterole", Type::BOOL), ("rolcreatedb", Type::BOOL), ("rolcanlogin", Type::BOOL),
        ("rolreplication", Type::BOOL), ("rolbypassrls", Type::BOOL), ("rolconnlimit", Type::INT4),
        ("rolpassword", Type::TEXT), ("rolvaliduntil", Type::TIMESTAMPTZ),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_available_extensions", oid: 12081, kind: Kind::View, columns: &[
        ("name", Type::NAME), ("default_version", Type::TEXT), ("installed_version", Type::TEXT),
        ("comment", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_cast", oid: 2605, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("castsource", Type::OID), ("casttarget", Type::OID), ("castfunc", Type::OID),
        ("castcontext", Type::CHAR_INTERNAL), ("castmethod", Type::CHAR_INTERNAL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_class", oid: 1259, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("relname", Type::NAME), ("relnamespace", Type::OID), ("reltype", Type::OID),
        ("reloftype", Type::OID), ("relowner", Type::OID), ("relam", Type::OID), ("relfilenode", Type::OID),
        ("reltablespace", Type::OID), ("relpages", Type::INT4), ("reltuples", Type::FLOAT4),
        ("relallvisible", Type::INT4), ("reltoastrelid", Type::OID), ("relhasindex", Type::BOOL),
        ("relisshared", Type::BOOL), ("relpersistence", Type::CHAR_INTERNAL), ("relkind", Type::CHAR_INTERNAL),
        ("relnatts", Type::INT2), ("relchecks", Type::INT2), ("relhasrules", Type::BOOL),
        ("relhastriggers", Type::BOOL), ("relhassubclass", Type::BOOL), ("relrowsecurity", Type::BOOL),
        ("relforcerowsecurity", Type::BOOL), ("relispopulated", Type::BOOL), ("relreplident", Type::CHAR_INTERNAL),
        ("relispartition", Type::BOOL), ("relrewrite", Type::OID), ("relfrozenxid", Type::XID),
        ("relminmxid", Type::XID), ("relacl", Type::ACLITEM_ARRAY), ("reloptions", Type::TEXT_ARRAY),
        ("relpartbound", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_collation", oid: 3456, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("collname", Type::NAME), ("collnamespace", Type::OID), ("collowner", Type::OID),
        ("collprovider", Type::CHAR_INTERNAL), ("collisdeterministic", Type::BOOL), ("collencoding", Type::INT4),
        ("collcollate", Type::TEXT), ("collctype", Type::TEXT), ("colliculocale", Type::TEXT),
        ("collversion", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_constraint", oid: 2606, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("conname", Type::NAME), ("connamespace", Type::OID), ("contype", Type::CHAR_INTERNAL),
        ("condeferrable", Type::BOOL), ("condeferred", Type::BOOL), ("convalidated", Type::BOOL),
        ("conrelid", Type::OID), ("contypid", Type::OID), ("conindid", Type::OID), ("conparentid", Type::OID),
        ("confrelid", Type::OID), ("confupdtype", Type::CHAR_INTERNAL), ("confdeltype", Type::CHAR_INTERNAL),
        ("confmatchtype", Type::CHAR_INTERNAL), ("conislocal", Type::BOOL), ("coninhcount", Type::INT4),
        ("connoinherit", Type::BOOL), ("conkey", Type::INT2_ARRAY), ("confkey", Type::INT2_ARRAY),
        ("conpfeqop", Type::OID_ARRAY), ("conppeqop", Type::OID_ARRAY), ("conffeqop", Type::OID_ARRAY),
        ("confdelsetcols", Type::INT2_ARRAY), ("conexclop", Type::OID_ARRAY), ("conbin", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_conversion", oid: 2607, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("conname", Type::NAME), ("connamespace", Type::OID), ("conowner", Type::OID),
        ("conforencoding", Type::INT4), ("contoencoding", Type::INT4), ("conproc", Type::REGPROC),
        ("condefault", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_cursors", oid: 12077, kind: Kind::View, columns: &[
        ("name", Type::TEXT), ("statement", Type::TEXT), ("is_holdable", Type::BOOL), ("is_binary", Type::BOOL),
        ("is_scrollable", Type::BOOL), ("creation_time", Type::TIMESTAMPTZ),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_database", oid: 1262, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("datname", Type::NAME), ("datdba", Type::OID), ("encoding", Type::INT4),
        ("datlocprovider", Type::CHAR_INTERNAL), ("datistemplate", Type::BOOL), ("datallowconn", Type::BOOL),
        ("datconnlimit", Type::INT4), ("datfrozenxid", Type::XID), ("datminmxid", Type::XID),
        ("dattablespace", Type::OID), ("datcollate", Type::TEXT), ("datctype", Type::TEXT),
        ("daticulocale", Type::TEXT), ("datcollversion", Type::TEXT), ("datacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_db_role_setting", oid: 2964, kind: Kind::Table, columns: &[
        ("setdatabase", Type::OID), ("setrole", Type::OID), ("setconfig", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_default_acl", oid: 826, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("defaclrole", Type::OID), ("defaclnamespace", Type::OID),
        ("defaclobjtype", Type::CHAR_INTERNAL), ("defaclacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_depend", oid: 2608, kind: Kind::Table, columns: &[
        ("classid", Type::OID), ("objid", Type::OID), ("objsubid", Type::INT4), ("refclassid", Type::OID),
        ("refobjid", Type::OID), ("refobjsubid", Type::INT4), ("deptype", Type::CHAR_INTERNAL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_description", oid: 2609, kind: Kind::Table, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("objsubid", Type::INT4), ("description", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_enum", oid: 3501, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("enumtypid", Type::OID), ("enumsortorder", Type::FLOAT4), ("enumlabel", Type::NAME),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_event_trigger", oid: 3466, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("evtname", Type::NAME), ("evtevent", Type::NAME), ("evtowner", Type::OID),
        ("evtfoid", Type::OID), ("evtenabled", Type::CHAR_INTERNAL), ("evttags", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_extension", oid: 3079, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("extname", Type::NAME), ("extowner", Type::OID), ("extnamespace", Type::OID),
        ("extrelocatable", Type::BOOL), ("extversion", Type::TEXT), ("extconfig", Type::OID_ARRAY),
        ("extcondition", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_foreign_data_wrapper", oid: 2328, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("fdwname", Type::NAME), ("fdwowner", Type::OID), ("fdwhandler", Type::OID),
        ("fdwvalidator", Type::OID), ("fdwacl", Type::ACLITEM_ARRAY), ("fdwoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_foreign_server", oid: 1417, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("srvname", Type::NAME), ("srvowner", Type::OID), ("srvfdw", Type::OID),
        ("srvtype", Type::TEXT), ("srvversion", Type::TEXT), ("srvacl", Type::ACLITEM_ARRAY),
        ("srvoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_foreign_table", oid: 3118, kind: Kind::Table, columns: &[
        ("ftrelid", Type::OID), ("ftserver", Type::OID), ("ftoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_group", oid: 12010, kind: Kind::View, columns: &[
        ("groname", Type::NAME), ("grosysid", Type::OID), ("grolist", Type::OID_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_index", oid: 2610, kind: Kind::Table, columns: &[
        ("indexrelid", Type::OID), ("indrelid", Type::OID), ("indnatts", Type::INT2), ("indnkeyatts", Type::INT2),
        ("indisunique", Type::BOOL), ("indnullsnotdistinct", Type::BOOL), ("indisprimary", Type::BOOL),
        ("indisexclusion", Type::BOOL), ("indimmediate", Type::BOOL), ("indisclustered", Type::BOOL),
        ("indisvalid", Type::BOOL), ("indcheckxmin", Type::BOOL), ("indisready", Type::BOOL),
        ("indislive", Type::BOOL), ("indisreplident", Type::BOOL), ("indkey", Type::INT2VECTOR),
        ("indcollation", Type::OIDVECTOR), ("indclass", Type::OIDVECTOR), ("indoption", Type::INT2VECTOR),
        ("indexprs", Type::PG_NODE_TREE), ("indpred", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_indexes", oid: 12043, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("tablename", Type::NAME), ("indexname", Type::NAME), ("tablespace", Type::NAME),
        ("indexdef", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_inherits", oid: 2611, kind: Kind::Table, columns: &[
        ("inhrelid", Type::OID), ("inhparent", Type::OID), ("inhseqno", Type::INT4), ("inhdetachpending", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_init_privs", oid: 3394, kind: Kind::Table, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("objsubid", Type::INT4), ("privtype", Type::CHAR_INTERNAL),
        ("initprivs", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_language", oid: 2612, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("lanname", Type::NAME), ("lanowner", Type::OID), ("lanispl", Type::BOOL),
        ("lanpltrusted", Type::BOOL), ("lanplcallfoid", Type::OID), ("laninline", Type::OID),
        ("lanvalidator", Type::OID), ("lanacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_largeobject_metadata", oid: 2995, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("lomowner", Type::OID), ("lomacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_locks", oid: 12073, kind: Kind::View, columns: &[
        ("locktype", Type::TEXT), ("database", Type::OID), ("relation", Type::OID), ("page", Type::INT4),
        ("tuple", Type::INT2), ("virtualxid", Type::TEXT), ("transactionid", Type::XID), ("classid", Type::OID),
        ("objid", Type::OID), ("objsubid", Type::INT2), ("virtualtransaction", Type::TEXT), ("pid", Type::INT4),
        ("mode", Type::TEXT), ("granted", Type::BOOL), ("fastpath", Type::BOOL), ("waitstart", Type::TIMESTAMPTZ),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_matviews", oid: 12038, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("matviewname", Type::NAME), ("matviewowner", Type::NAME),
        ("tablespace", Type::NAME), ("hasindexes", Type::BOOL), ("ispopulated", Type::BOOL),
        ("definition", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_namespace", oid: 2615, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("nspname", Type::NAME), ("nspowner", Type::OID), ("nspacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_opclass", oid: 2616, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("opcmethod", Type::OID), ("opcname", Type::NAME), ("opcnamespace", Type::OID),
        ("opcowner", Type::OID), ("opcfamily", Type::OID), ("opcintype", Type::OID), ("opcdefault", Type::BOOL),
        ("opckeytype", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_operator", oid: 2617, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("oprname", Type::NAME), ("oprnamespace", Type::OID), ("oprowner", Type::OID),
        ("oprkind", Type::CHAR_INTERNAL), ("oprcanmerge", Type::BOOL), ("oprcanhash", Type::BOOL),
        ("oprleft", Type::OID), ("oprright", Type::OID), ("oprresult", Type::OID), ("oprcom", Type::OID),
        ("oprnegate", Type::OID), ("oprcode", Type::REGPROC), ("oprrest", Type::REGPROC), ("oprjoin", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_opfamily", oid: 2753, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("opfmethod", Type::OID), ("opfname", Type::NAME), ("opfnamespace", Type::OID),
        ("opfowner", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_partitioned_table", oid: 3350, kind: Kind::Table, columns: &[
        ("partrelid", Type::OID), ("partstrat", Type::CHAR_INTERNAL), ("partnatts", Type::INT2),
        ("partdefid", Type::OID), ("partattrs", Type::INT2VECTOR), ("partclass", Type::OIDVECTOR),
        ("partcollation", Type::OIDVECTOR), ("partexprs", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_policies", oid: 12018, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("tablename", Type::NAME), ("policyname", Type::NAME), ("permissive", Type::TEXT),
        ("roles", Type::NAME_ARRAY), ("cmd", Type::TEXT), ("qual", Type::TEXT), ("with_check", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_policy", oid: 3256, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("polname", Type::NAME), ("polrelid", Type::OID), ("polcmd", Type::CHAR_INTERNAL),
        ("polpermissive", Type::BOOL), ("polroles", Type::OID_ARRAY), ("polqual", Type::PG_NODE_TREE),
        ("polwithcheck", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_prepared_statements", oid: 12095, kind: Kind::View, columns: &[
        ("name", Type::TEXT), ("statement", Type::TEXT), ("prepare_time", Type::TIMESTAMPTZ),
        ("parameter_types", Type::REGTYPE_ARRAY), ("from_sql", Type::BOOL), ("generic_plans", Type::INT8),
        ("custom_plans", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_prepared_xacts", oid: 12090, kind: Kind::View, columns: &[
        ("transaction", Type::XID), ("gid", Type::TEXT), ("prepared", Type::TIMESTAMPTZ), ("owner", Type::NAME),
        ("database", Type::NAME),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_proc", oid: 1255, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("proname", Type::NAME), ("pronamespace", Type::OID), ("proowner", Type::OID),
        ("prolang", Type::OID), ("procost", Type::FLOAT4), ("prorows", Type::FLOAT4), ("provariadic", Type::OID),
        ("prosupport", Type::REGPROC), ("prokind", Type::CHAR_INTERNAL), ("prosecdef", Type::BOOL),
        ("proleakproof", Type::BOOL), ("proisstrict", Type::BOOL), ("proretset", Type::BOOL),
        ("provolatile", Type::CHAR_INTERNAL), ("proparallel", Type::CHAR_INTERNAL), ("pronargs", Type::INT2),
        ("pronargdefaults", Type::INT2), ("prorettype", Type::OID), ("proargtypes", Type::OIDVECTOR),
        ("proallargtypes", Type::OID_ARRAY), ("proargmodes", Type::CHAR_ARRAY), ("proargnames", Type::TEXT_ARRAY),
        ("proargdefaults", Type::PG_NODE_TREE), ("protrftypes", Type::OID_ARRAY), ("prosrc", Type::TEXT),
        ("probin", Type::TEXT), ("prosqlbody", Type::PG_NODE_TREE), ("proconfig", Type::TEXT_ARRAY),
        ("proacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_publication", oid: 6104, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("pubname", Type::NAME), ("pubowner", Type::OID), ("puballtables", Type::BOOL),
        ("pubinsert", Type::BOOL), ("pubupdate", Type::BOOL), ("pubdelete", Type::BOOL), ("pubtruncate", Type::BOOL),
        ("pubviaroot", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_publication_namespace", oid: 6237, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("pnpubid", Type::OID), ("pnnspid", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_publication_rel", oid: 6106, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("prpubid", Type::OID), ("prrelid", Type::OID), ("prqual", Type::PG_NODE_TREE),
        ("prattrs", Type::INT2VECTOR),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_publication_tables", oid: 12068, kind: Kind::View, columns: &[
        ("pubname", Type::NAME), ("schemaname", Type::NAME), ("tablename", Type::NAME),
        ("attnames", Type::NAME_ARRAY), ("rowfilter", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_range", oid: 3541, kind: Kind::Table, columns: &[
        ("rngtypid", Type::OID), ("rngsubtype", Type::OID), ("rngmultitypid", Type::OID), ("rngcollation", Type::OID),
        ("rngsubopc", Type::OID), ("rngcanonical", Type::REGPROC), ("rngsubdiff", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_rewrite", oid: 2618, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("rulename", Type::NAME), ("ev_class", Type::OID), ("ev_type", Type::CHAR_INTERNAL),
        ("ev_enabled", Type::CHAR_INTERNAL), ("is_instead", Type::BOOL), ("ev_qual", Type::PG_NODE_TREE),
        ("ev_action", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_roles", oid: 12000, kind: Kind::View, columns: &[
        ("rolname", Type::NAME), ("rolsuper", Type::BOOL), ("rolinherit", Type::BOOL), ("rolcreaterole", Type::BOOL),
        ("rolcreatedb", Type::BOOL), ("rolcanlogin", Type::BOOL), ("rolreplication", Type::BOOL),
        ("rolconnlimit", Type::INT4), ("rolpassword", Type::TEXT), ("rolvaliduntil", Type::TIMESTAMPTZ),
        ("rolbypassrls", Type::BOOL), ("rolconfig", Type::TEXT_ARRAY), ("oid", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_rules", oid: 12023, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("tablename", Type::NAME), ("rulename", Type::NAME), ("definition", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_seclabel", oid: 3596, kind: Kind::Table, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("objsubid", Type::INT4), ("provider", Type::TEXT),
        ("label", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_seclabels", oid: 12099, kind: Kind::View, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("objsubid", Type::INT4), ("objtype", Type::TEXT),
        ("objnamespace", Type::OID), ("objname", Type::TEXT), ("provider", Type::TEXT), ("label", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_sequence", oid: 2224, kind: Kind::Table, columns: &[
        ("seqrelid", Type::OID), ("seqtypid", Type::OID), ("seqstart", Type::INT8), ("seqincrement", Type::INT8),
        ("seqmax", Type::INT8), ("seqmin", Type::INT8), ("seqcache", Type::INT8), ("seqcycle", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_sequences", oid: 12048, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("sequencename", Type::NAME), ("sequenceowner", Type::NAME),
        ("data_type", Type::REGTYPE), ("start_value", Type::INT8), ("min_value", Type::INT8),
        ("max_value", Type::INT8), ("increment_by", Type::INT8), ("cycle", Type::BOOL), ("cache_size", Type::INT8),
        ("last_value", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_settings", oid: 12104, kind: Kind::View, columns: &[
        ("name", Type::TEXT), ("setting", Type::TEXT), ("unit", Type::TEXT), ("category", Type::TEXT),
        ("short_desc", Type::TEXT), ("extra_desc", Type::TEXT), ("context", Type::TEXT), ("vartype", Type::TEXT),
        ("source", Type::TEXT), ("min_val", Type::TEXT), ("max_val", Type::TEXT), ("enumvals", Type::TEXT_ARRAY),
        ("boot_val", Type::TEXT), ("reset_val", Type::TEXT), ("sourcefile", Type::TEXT), ("sourceline", Type::INT4),
        ("pending_restart", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_shadow", oid: 12005, kind: Kind::View, columns: &[
        ("usename", Type::NAME), ("usesysid", Type::OID), ("usecreatedb", Type::BOOL), ("usesuper", Type::BOOL),
        ("userepl", Type::BOOL), ("usebypassrls", Type::BOOL), ("passwd", Type::TEXT),
        ("valuntil", Type::TIMESTAMPTZ), ("useconfig", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_shdepend", oid: 1214, kind: Kind::Table, columns: &[
        ("dbid", Type::OID), ("classid", Type::OID), ("objid", Type::OID), ("objsubid", Type::INT4),
        ("refclassid", Type::OID), ("refobjid", Type::OID), ("deptype", Type::CHAR_INTERNAL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_shdescription", oid: 2396, kind: Kind::Table, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("description", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_shseclabel", oid: 3592, kind: Kind::Table, columns: &[
        ("objoid", Type::OID), ("classoid", Type::OID), ("provider", Type::TEXT), ("label", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_activity", oid: 12222, kind: Kind::View, columns: &[
        ("datid", Type::OID), ("datname", Type::NAME), ("pid", Type::INT4), ("leader_pid", Type::INT4),
        ("usesysid", Type::OID), ("usename", Type::NAME), ("application_name", Type::TEXT),
        ("client_addr", Type::INET), ("client_hostname", Type::TEXT), ("client_port", Type::INT4),
        ("backend_start", Type::TIMESTAMPTZ), ("xact_start", Type::TIMESTAMPTZ), ("query_start", Type::TIMESTAMPTZ),
        ("state_change", Type::TIMESTAMPTZ), ("wait_event_type", Type::TEXT), ("wait_event", Type::TEXT),
        ("state", Type::TEXT), ("backend_xid", Type::XID), ("backend_xmin", Type::XID), ("query_id", Type::INT8),
        ("query", Type::TEXT), ("backend_type", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_all_indexes", oid: 12183, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("indexrelid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME),
        ("indexrelname", Type::NAME), ("idx_scan", Type::INT8), ("idx_tup_read", Type::INT8),
        ("idx_tup_fetch", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_all_tables", oid: 12142, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME), ("seq_scan", Type::INT8),
        ("seq_tup_read", Type::INT8), ("idx_scan", Type::INT8), ("idx_tup_fetch", Type::INT8),
        ("n_tup_ins", Type::INT8), ("n_tup_upd", Type::INT8), ("n_tup_del", Type::INT8),
        ("n_tup_hot_upd", Type::INT8), ("n_live_tup", Type::INT8), ("n_dead_tup", Type::INT8),
        ("n_mod_since_analyze", Type::INT8), ("n_ins_since_vacuum", Type::INT8), ("last_vacuum", Type::TIMESTAMPTZ),
        ("last_autovacuum", Type::TIMESTAMPTZ), ("last_analyze", Type::TIMESTAMPTZ),
        ("last_autoanalyze", Type::TIMESTAMPTZ), ("vacuum_count", Type::INT8), ("autovacuum_count", Type::INT8),
        ("analyze_count", Type::INT8), ("autoanalyze_count", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_database", oid: 12266, kind: Kind::View, columns: &[
        ("datid", Type::OID), ("datname", Type::NAME), ("numbackends", Type::INT4), ("xact_commit", Type::INT8),
        ("xact_rollback", Type::INT8), ("blks_read", Type::INT8), ("blks_hit", Type::INT8),
        ("tup_returned", Type::INT8), ("tup_fetched", Type::INT8), ("tup_inserted", Type::INT8),
        ("tup_updated", Type::INT8), ("tup_deleted", Type::INT8), ("conflicts", Type::INT8),
        ("temp_files", Type::INT8), ("temp_bytes", Type::INT8), ("deadlocks", Type::INT8),
        ("checksum_failures", Type::INT8), ("checksum_last_failure", Type::TIMESTAMPTZ),
        ("blk_read_time", Type::FLOAT8), ("blk_write_time", Type::FLOAT8), ("session_time", Type::FLOAT8),
        ("active_time", Type::FLOAT8), ("idle_in_transaction_time", Type::FLOAT8), ("sessions", Type::INT8),
        ("sessions_abandoned", Type::INT8), ("sessions_fatal", Type::INT8), ("sessions_killed", Type::INT8),
        ("stats_reset", Type::TIMESTAMPTZ),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_user_indexes", oid: 12192, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("indexrelid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME),
        ("indexrelname", Type::NAME), ("idx_scan", Type::INT8), ("idx_tup_read", Type::INT8),
        ("idx_tup_fetch", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stat_user_tables", oid: 12161, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME), ("seq_scan", Type::INT8),
        ("seq_tup_read", Type::INT8), ("idx_scan", Type::INT8), ("idx_tup_fetch", Type::INT8),
        ("n_tup_ins", Type::INT8), ("n_tup_upd", Type::INT8), ("n_tup_del", Type::INT8),
        ("n_tup_hot_upd", Type::INT8), ("n_live_tup", Type::INT8), ("n_dead_tup", Type::INT8),
        ("n_mod_since_analyze", Type::INT8), ("n_ins_since_vacuum", Type::INT8), ("last_vacuum", Type::TIMESTAMPTZ),
        ("last_autovacuum", Type::TIMESTAMPTZ), ("last_analyze", Type::TIMESTAMPTZ),
        ("last_autoanalyze", Type::TIMESTAMPTZ), ("vacuum_count", Type::INT8), ("autovacuum_count", Type::INT8),
        ("analyze_count", Type::INT8), ("autoanalyze_count", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_statio_all_tables", oid: 12170, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME), ("heap_blks_read", Type::INT8),
        ("heap_blks_hit", Type::INT8), ("idx_blks_read", Type::INT8), ("idx_blks_hit", Type::INT8),
        ("toast_blks_read", Type::INT8), ("toast_blks_hit", Type::INT8), ("tidx_blks_read", Type::INT8),
        ("tidx_blks_hit", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_statio_user_tables", oid: 12179, kind: Kind::View, columns: &[
        ("relid", Type::OID), ("schemaname", Type::NAME), ("relname", Type::NAME), ("heap_blks_read", Type::INT8),
        ("heap_blks_hit", Type::INT8), ("idx_blks_read", Type::INT8), ("idx_blks_hit", Type::INT8),
        ("toast_blks_read", Type::INT8), ("toast_blks_hit", Type::INT8), ("tidx_blks_read", Type::INT8),
        ("tidx_blks_hit", Type::INT8),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_statistic", oid: 2619, kind: Kind::Table, columns: &[
        ("starelid", Type::OID), ("staattnum", Type::INT2), ("stainherit", Type::BOOL), ("stanullfrac", Type::FLOAT4),
        ("stawidth", Type::INT4), ("stadistinct", Type::FLOAT4), ("stakind1", Type::INT2), ("stakind2", Type::INT2),
        ("stakind3", Type::INT2), ("stakind4", Type::INT2), ("stakind5", Type::INT2), ("staop1", Type::OID),
        ("staop2", Type::OID), ("staop3", Type::OID), ("staop4", Type::OID), ("staop5", Type::OID),
        ("stacoll1", Type::OID), ("stacoll2", Type::OID), ("stacoll3", Type::OID), ("stacoll4", Type::OID),
        ("stacoll5", Type::OID), ("stanumbers1", Type::FLOAT4_ARRAY), ("stanumbers2", Type::FLOAT4_ARRAY),
        ("stanumbers3", Type::FLOAT4_ARRAY), ("stanumbers4", Type::FLOAT4_ARRAY), ("stanumbers5", Type::FLOAT4_ARRAY),
        ("stavalues1", Type::ANYARRAY), ("stavalues2", Type::ANYARRAY), ("stavalues3", Type::ANYARRAY),
        ("stavalues4", Type::ANYARRAY), ("stavalues5", Type::ANYARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_statistic_ext", oid: 3381, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("stxrelid", Type::OID), ("stxname", Type::NAME), ("stxnamespace", Type::OID),
        ("stxowner", Type::OID), ("stxstattarget", Type::INT4), ("stxkeys", Type::INT2VECTOR),
        ("stxkind", Type::CHAR_ARRAY), ("stxexprs", Type::PG_NODE_TREE),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_stats", oid: 12053, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("tablename", Type::NAME), ("attname", Type::NAME), ("inherited", Type::BOOL),
        ("null_frac", Type::FLOAT4), ("avg_width", Type::INT4), ("n_distinct", Type::FLOAT4),
        ("most_common_vals", Type::ANYARRAY), ("most_common_freqs", Type::FLOAT4_ARRAY),
        ("histogram_bounds", Type::ANYARRAY), ("correlation", Type::FLOAT4), ("most_common_elems", Type::ANYARRAY),
        ("most_common_elem_freqs", Type::FLOAT4_ARRAY), ("elem_count_histogram", Type::FLOAT4_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_subscription", oid: 6100, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("subdbid", Type::OID), ("subskiplsn", Type::PG_LSN), ("subname", Type::NAME),
        ("subowner", Type::OID), ("subenabled", Type::BOOL), ("subbinary", Type::BOOL), ("substream", Type::BOOL),
        ("subtwophasestate", Type::CHAR_INTERNAL), ("subdisableonerr", Type::BOOL), ("subconninfo", Type::TEXT),
        ("subslotname", Type::NAME), ("subsynccommit", Type::TEXT), ("subpublications", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_subscription_rel", oid: 6102, kind: Kind::Table, columns: &[
        ("srsubid", Type::OID), ("srrelid", Type::OID), ("srsubstate", Type::CHAR_INTERNAL),
        ("srsublsn", Type::PG_LSN),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_tables", oid: 12033, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("tablename", Type::NAME), ("tableowner", Type::NAME), ("tablespace", Type::NAME),
        ("hasindexes", Type::BOOL), ("hasrules", Type::BOOL), ("hastriggers", Type::BOOL),
        ("rowsecurity", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_tablespace", oid: 1213, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("spcname", Type::NAME), ("spcowner", Type::OID), ("spcacl", Type::ACLITEM_ARRAY),
        ("spcoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_timezone_abbrevs", oid: 12122, kind: Kind::View, columns: &[
        ("abbrev", Type::TEXT), ("utc_offset", Type::INTERVAL), ("is_dst", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_timezone_names", oid: 12126, kind: Kind::View, columns: &[
        ("name", Type::TEXT), ("abbrev", Type::TEXT), ("utc_offset", Type::INTERVAL), ("is_dst", Type::BOOL),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_transform", oid: 3576, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("trftype", Type::OID), ("trflang", Type::OID), ("trffromsql", Type::REGPROC),
        ("trftosql", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_trigger", oid: 2620, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("tgrelid", Type::OID), ("tgparentid", Type::OID), ("tgname", Type::NAME),
        ("tgfoid", Type::OID), ("tgtype", Type::INT2), ("tgenabled", Type::CHAR_INTERNAL),
        ("tgisinternal", Type::BOOL), ("tgconstrrelid", Type::OID), ("tgconstrindid", Type::OID),
        ("tgconstraint", Type::OID), ("tgdeferrable", Type::BOOL), ("tginitdeferred", Type::BOOL),
        ("tgnargs", Type::INT2), ("tgattr", Type::INT2VECTOR), ("tgargs", Type::BYTEA),
        ("tgqual", Type::PG_NODE_TREE), ("tgoldtable", Type::NAME), ("tgnewtable", Type::NAME),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_ts_config", oid: 3602, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("cfgname", Type::NAME), ("cfgnamespace", Type::OID), ("cfgowner", Type::OID),
        ("cfgparser", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_ts_config_map", oid: 3603, kind: Kind::Table, columns: &[
        ("mapcfg", Type::OID), ("maptokentype", Type::INT4), ("mapseqno", Type::INT4), ("mapdict", Type::OID),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_ts_dict", oid: 3600, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("dictname", Type::NAME), ("dictnamespace", Type::OID), ("dictowner", Type::OID),
        ("dicttemplate", Type::OID), ("dictinitoption", Type::TEXT),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_ts_parser", oid: 3601, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("prsname", Type::NAME), ("prsnamespace", Type::OID), ("prsstart", Type::REGPROC),
        ("prstoken", Type::REGPROC), ("prsend", Type::REGPROC), ("prsheadline", Type::REGPROC),
        ("prslextype", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_ts_template", oid: 3764, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("tmplname", Type::NAME), ("tmplnamespace", Type::OID), ("tmplinit", Type::REGPROC),
        ("tmpllexize", Type::REGPROC),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_type", oid: 1247, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("typname", Type::NAME), ("typnamespace", Type::OID), ("typowner", Type::OID),
        ("typlen", Type::INT2), ("typbyval", Type::BOOL), ("typtype", Type::CHAR_INTERNAL),
        ("typcategory", Type::CHAR_INTERNAL), ("typispreferred", Type::BOOL), ("typisdefined", Type::BOOL),
        ("typdelim", Type::CHAR_INTERNAL), ("typrelid", Type::OID), ("typsubscript", Type::REGPROC),
        ("typelem", Type::OID), ("typarray", Type::OID), ("typinput", Type::REGPROC), ("typoutput", Type::REGPROC),
        ("typreceive", Type::REGPROC), ("typsend", Type::REGPROC), ("typmodin", Type::REGPROC),
        ("typmodout", Type::REGPROC), ("typanalyze", Type::REGPROC), ("typalign", Type::CHAR_INTERNAL),
        ("typstorage", Type::CHAR_INTERNAL), ("typnotnull", Type::BOOL), ("typbasetype", Type::OID),
        ("typtypmod", Type::INT4), ("typndims", Type::INT4), ("typcollation", Type::OID),
        ("typdefaultbin", Type::PG_NODE_TREE), ("typdefault", Type::TEXT), ("typacl", Type::ACLITEM_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_user", oid: 12014, kind: Kind::View, columns: &[
        ("usename", Type::NAME), ("usesysid", Type::OID), ("usecreatedb", Type::BOOL), ("usesuper", Type::BOOL),
        ("userepl", Type::BOOL), ("usebypassrls", Type::BOOL), ("passwd", Type::TEXT),
        ("valuntil", Type::TIMESTAMPTZ), ("useconfig", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_user_mapping", oid: 1418, kind: Kind::Table, columns: &[
        ("oid", Type::OID), ("umuser", Type::OID), ("umserver", Type::OID), ("umoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_user_mappings", oid: 12327, kind: Kind::View, columns: &[
        ("umid", Type::OID), ("srvid", Type::OID), ("srvname", Type::NAME), ("umuser", Type::OID),
        ("usename", Type::NAME), ("umoptions", Type::TEXT_ARRAY),
    ] },
    SystemTable { schema: "pg_catalog", name: "pg_views", oid: 12028, kind: Kind::View, columns: &[
        ("schemaname", Type::NAME), ("viewname", Type::NAME), ("viewowner", Type::NAME), ("definition", Type::TEXT),
    ] },
];
