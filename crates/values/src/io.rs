//! The functions that read and show values of built-in types, by the numbers that PostgreSQL 15 has for them.
//!
//! Drivers look at `typinput`, `typsend` and their like to tell arrays and records from other types.

use crate::{Oid, Type};

/// The functions of a type, zero for none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct Functions {
    pub input: Oid,
    pub output: Oid,
    pub receive: Oid,
    pub send: Oid,
    pub modifier_in: Oid,
    pub modifier_out: Oid,
}

/// The functions of array types.
pub const ARRAY: Functions = functions(750, 751, 2400, 2401, 0, 0);
/// The functions of composite types.
pub const RECORD: Functions = functions(2290, 2291, 2402, 2403, 0, 0);
/// The functions of enums.
pub const ENUM: Functions = functions(3506, 3507, 3532, 3533, 0, 0);
/// How domains are read; they are shown as the types below them.
pub const DOMAIN_INPUT: Oid = 2597;
/// How domains are received.
pub const DOMAIN_RECEIVE: Oid = 2598;

/// The functions of a built-in type.
pub fn of_type(ty: Type) -> Option<Functions> {
    TYPES.binary_search_by_key(&ty.0, |row| row.0).ok().map(|at| TYPES[at].1)
}

/// The name of one of these functions.
pub fn name(oid: Oid) -> Option<&'static str> {
    NAMES.iter().find(|(_, number)| *number == oid).map(|(name, _)| *name)
}

/// The number of one of these functions.
pub fn number(name: &str) -> Option<Oid> {
    NAMES.binary_search_by_key(&name, |(name, _)| name).ok().map(|at| NAMES[at].1)
}

const fn functions(input: Oid, output: Oid, receive: Oid, send: Oid, modifier_in: Oid, modifier_out: Oid) -> Functions {
    Functions { input, output, receive, send, modifier_in, modifier_out }
}

#[rustfmt::skip]
static TYPES: &[(Oid, Functions)] = &[
    (16, functions(1242, 1243, 2436, 2437, 0, 0)), (17, functions(1244, 31, 2412, 2413, 0, 0)),
    (18, functions(1245, 33, 2434, 2435, 0, 0)), (19, functions(34, 35, 2422, 2423, 0, 0)),
    (20, functions(460, 461, 2408, 2409, 0, 0)), (21, functions(38, 39, 2404, 2405, 0, 0)),
    (22, functions(40, 41, 2410, 2411, 0, 0)), (23, functions(42, 43, 2406, 2407, 0, 0)),
    (24, functions(44, 45, 2444, 2445, 0, 0)), (25, functions(46, 47, 2414, 2415, 0, 0)),
    (26, functions(1798, 1799, 2418, 2419, 0, 0)), (27, functions(48, 49, 2438, 2439, 0, 0)),
    (28, functions(50, 51, 2440, 2441, 0, 0)), (29, functions(52, 53, 2442, 2443, 0, 0)),
    (30, functions(54, 55, 2420, 2421, 0, 0)), (32, functions(86, 87, 88, 90, 0, 0)),
    (114, functions(321, 322, 323, 324, 0, 0)), (142, functions(2893, 2894, 2898, 2899, 0, 0)),
    (143, functions(750, 751, 2400, 2401, 0, 0)), (194, functions(195, 196, 197, 198, 0, 0)),
    (199, functions(750, 751, 2400, 2401, 0, 0)), (269, functions(267, 268, 0, 0, 0, 0)),
    (271, functions(750, 751, 2400, 2401, 0, 0)), (325, functions(326, 327, 0, 0, 0, 0)),
    (600, functions(117, 118, 2428, 2429, 0, 0)), (601, functions(119, 120, 2480, 2481, 0, 0)),
    (602, functions(121, 122, 2482, 2483, 0, 0)), (603, functions(123, 124, 2484, 2485, 0, 0)),
    (604, functions(347, 348, 2486, 2487, 0, 0)), (628, functions(1490, 1491, 2488, 2489, 0, 0)),
    (629, functions(750, 751, 2400, 2401, 0, 0)), (650, functions(1267, 1427, 2498, 2499, 0, 0)),
    (651, functions(750, 751, 2400, 2401, 0, 0)), (700, functions(200, 201, 2424, 2425, 0, 0)),
    (701, functions(214, 215, 2426, 2427, 0, 0)), (705, functions(109, 110, 2416, 2417, 0, 0)),
    (718, functions(1450, 1451, 2490, 2491, 0, 0)), (719, functions(750, 751, 2400, 2401, 0, 0)),
    (774, functions(4110, 4111, 3446, 3447, 0, 0)), (775, functions(750, 751, 2400, 2401, 0, 0)),
    (790, functions(886, 887, 2492, 2493, 0, 0)), (791, functions(750, 751, 2400, 2401, 0, 0)),
    (829, functions(436, 437, 2494, 2495, 0, 0)), (869, functions(910, 911, 2496, 2497, 0, 0)),
    (1000, functions(750, 751, 2400, 2401, 0, 0)), (1001, functions(750, 751, 2400, 2401, 0, 0)),
    (1002, functions(750, 751, 2400, 2401, 0, 0)), (1003, functions(750, 751, 2400, 2401, 0, 0)),
    (1005, functions(750, 751, 2400, 2401, 0, 0)), (1006, functions(750, 751, 2400, 2401, 0, 0)),
    (1007, functions(750, 751, 2400, 2401, 0, 0)), (1008, functions(750, 751, 2400, 2401, 0, 0)),
    (1009, functions(750, 751, 2400, 2401, 0, 0)), (1010, functions(750, 751, 2400, 2401, 0, 0)),
    (1011, functions(750, 751, 2400, 2401, 0, 0)), (1012, functions(750, 751, 2400, 2401, 0, 0)),
    (1013, functions(750, 751, 2400, 2401, 0, 0)), (1014, functions(750, 751, 2400, 2401, 2913, 2914)),
    (1015, functions(750, 751, 2400, 2401, 2915, 2916)), (1016, functions(750, 751, 2400, 2401, 0, 0)),
    (1017, functions(750, 751, 2400, 2401, 0, 0)), (1018, functions(750, 751, 2400, 2401, 0, 0)),
    (1019, functions(750, 751, 2400, 2401, 0, 0)), (1020, functions(750, 751, 2400, 2401, 0, 0)),
    (1021, functions(750, 751, 2400, 2401, 0, 0)), (1022, functions(750, 751, 2400, 2401, 0, 0)),
    (1027, functions(750, 751, 2400, 2401, 0, 0)), (1028, functions(750, 751, 2400, 2401, 0, 0)),
    (1033, functions(1031, 1032, 0, 0, 0, 0)), (1034, functions(750, 751, 2400, 2401, 0, 0)),
    (1040, functions(750, 751, 2400, 2401, 0, 0)), (1041, functions(750, 751, 2400, 2401, 0, 0)),
    (1042, functions(1044, 1045, 2430, 2431, 2913, 2914)), (1043, functions(1046, 1047, 2432, 2433, 2915, 2916)),
    (1082, functions(1084, 1085, 2468, 2469, 0, 0)), (1083, functions(1143, 1144, 2470, 2471, 2909, 2910)),
    (1114, functions(1312, 1313, 2474, 2475, 2905, 2906)), (1115, functions(750, 751, 2400, 2401, 2905, 2906)),
    (1182, functions(750, 751, 2400, 2401, 0, 0)), (1183, functions(750, 751, 2400, 2401, 2909, 2910)),
    (1184, functions(1150, 1151, 2476, 2477, 2907, 2908)), (1185, functions(750, 751, 2400, 2401, 2907, 2908)),
    (1186, functions(1160, 1161, 2478, 2479, 2903, 2904)), (1187, functions(750, 751, 2400, 2401, 2903, 2904)),
    (1231, functions(750, 751, 2400, 2401, 2917, 2918)), (1263, functions(750, 751, 2400, 2401, 0, 0)),
    (1266, functions(1350, 1351, 2472, 2473, 2911, 2912)), (1270, functions(750, 751, 2400, 2401, 2911, 2912)),
    (1560, functions(1564, 1565, 2456, 2457, 2919, 2920)), (1561, functions(750, 751, 2400, 2401, 2919, 2920)),
    (1562, functions(1579, 1580, 2458, 2459, 2902, 2921)), (1563, functions(750, 751, 2400, 2401, 2902, 2921)),
    (1700, functions(1701, 1702, 2460, 2461, 2917, 2918)), (1790, functions(46, 47, 2414, 2415, 0, 0)),
    (2201, functions(750, 751, 2400, 2401, 0, 0)), (2202, functions(2212, 2213, 2446, 2447, 0, 0)),
    (2203, functions(2214, 2215, 2448, 2449, 0, 0)), (2204, functions(2216, 2217, 2450, 2451, 0, 0)),
    (2205, functions(2218, 2219, 2452, 2453, 0, 0)), (2206, functions(2220, 2221, 2454, 2455, 0, 0)),
    (2207, functions(750, 751, 2400, 2401, 0, 0)), (2208, functions(750, 751, 2400, 2401, 0, 0)),
    (2209, functions(750, 751, 2400, 2401, 0, 0)), (2210, functions(750, 751, 2400, 2401, 0, 0)),
    (2211, functions(750, 751, 2400, 2401, 0, 0)), (2249, functions(2290, 2291, 2402, 2403, 0, 0)),
    (2275, functions(2292, 2293, 2500, 2501, 0, 0)), (2276, functions(2294, 2295, 0, 0, 0, 0)),
    (2277, functions(2296, 2297, 2502, 2503, 0, 0)), (2278, functions(2298, 2299, 3120, 3121, 0, 0)),
    (2279, functions(2300, 2301, 0, 0, 0, 0)), (2280, functions(2302, 2303, 0, 0, 0, 0)),
    (2281, functions(2304, 2305, 0, 0, 0, 0)), (2283, functions(2312, 2313, 0, 0, 0, 0)),
    (2287, functions(750, 751, 2400, 2401, 0, 0)), (2776, functions(2777, 2778, 0, 0, 0, 0)),
    (2949, functions(750, 751, 2400, 2401, 0, 0)), (2950, functions(2952, 2953, 2961, 2962, 0, 0)),
    (2951, functions(750, 751, 2400, 2401, 0, 0)), (2970, functions(2939, 2940, 2941, 2942, 0, 0)),
    (3115, functions(3116, 3117, 0, 0, 0, 0)), (3220, functions(3229, 3230, 3238, 3239, 0, 0)),
    (3221, functions(750, 751, 2400, 2401, 0, 0)), (3310, functions(3311, 3312, 0, 0, 0, 0)),
    (3361, functions(3355, 3356, 3357, 3358, 0, 0)), (3402, functions(3404, 3405, 3406, 3407, 0, 0)),
    (3500, functions(3504, 3505, 0, 0, 0, 0)), (3614, functions(3610, 3611, 3639, 3638, 0, 0)),
    (3615, functions(3612, 3613, 3641, 3640, 0, 0)), (3642, functions(3646, 3647, 0, 0, 0, 0)),
    (3643, functions(750, 751, 2400, 2401, 0, 0)), (3644, functions(750, 751, 2400, 2401, 0, 0)),
    (3645, functions(750, 751, 2400, 2401, 0, 0)), (3734, functions(3736, 3737, 3738, 3739, 0, 0)),
    (3735, functions(750, 751, 2400, 2401, 0, 0)), (3769, functions(3771, 3772, 3773, 3774, 0, 0)),
    (3770, functions(750, 751, 2400, 2401, 0, 0)), (3802, functions(3806, 3804, 3805, 3803, 0, 0)),
    (3807, functions(750, 751, 2400, 2401, 0, 0)), (3831, functions(3832, 3833, 0, 0, 0, 0)),
    (3838, functions(3594, 3595, 0, 0, 0, 0)), (3904, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3905, functions(750, 751, 2400, 2401, 0, 0)), (3906, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3907, functions(750, 751, 2400, 2401, 0, 0)), (3908, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3909, functions(750, 751, 2400, 2401, 0, 0)), (3910, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3911, functions(750, 751, 2400, 2401, 0, 0)), (3912, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3913, functions(750, 751, 2400, 2401, 0, 0)), (3926, functions(3834, 3835, 3836, 3837, 0, 0)),
    (3927, functions(750, 751, 2400, 2401, 0, 0)), (4072, functions(4001, 4003, 4002, 4004, 0, 0)),
    (4073, functions(750, 751, 2400, 2401, 0, 0)), (4089, functions(4084, 4085, 4087, 4088, 0, 0)),
    (4090, functions(750, 751, 2400, 2401, 0, 0)), (4096, functions(4098, 4092, 4094, 4095, 0, 0)),
    (4097, functions(750, 751, 2400, 2401, 0, 0)), (4191, functions(4193, 4194, 4196, 4197, 0, 0)),
    (4192, functions(750, 751, 2400, 2401, 0, 0)), (4451, functions(4231, 4232, 4233, 4234, 0, 0)),
    (4532, functions(4231, 4232, 4233, 4234, 0, 0)), (4533, functions(4231, 4232, 4233, 4234, 0, 0)),
    (4534, functions(4231, 4232, 4233, 4234, 0, 0)), (4535, functions(4231, 4232, 4233, 4234, 0, 0)),
    (4536, functions(4231, 4232, 4233, 4234, 0, 0)), (4537, functions(4229, 4230, 0, 0, 0, 0)),
    (4538, functions(4226, 4227, 0, 0, 0, 0)), (4600, functions(4596, 4597, 4598, 4599, 0, 0)),
    (4601, functions(4638, 4639, 4640, 4641, 0, 0)), (5017, functions(5018, 5019, 5020, 5021, 0, 0)),
    (5038, functions(5055, 5056, 5057, 5058, 0, 0)), (5039, functions(750, 751, 2400, 2401, 0, 0)),
    (5069, functions(5070, 5081, 5082, 5083, 0, 0)), (5077, functions(5086, 5087, 0, 0, 0, 0)),
    (5078, functions(5088, 5089, 5090, 5091, 0, 0)), (5079, functions(5092, 5093, 0, 0, 0, 0)),
    (5080, functions(5094, 5095, 0, 0, 0, 0)), (6150, functions(750, 751, 2400, 2401, 0, 0)),
    (6151, functions(750, 751, 2400, 2401, 0, 0)), (6152, functions(750, 751, 2400, 2401, 0, 0)),
    (6153, functions(750, 751, 2400, 2401, 0, 0)), (6155, functions(750, 751, 2400, 2401, 0, 0)),
    (6157, functions(750, 751, 2400, 2401, 0, 0)),
];

#[rustfmt::skip]
static NAMES: &[(&str, Oid)] = &[
    ("aclitemin", 1031), ("aclitemout", 1032), ("any_in", 2294), ("any_out", 2295), ("anyarray_in", 2296),
    ("anyarray_out", 2297), ("anyarray_recv", 2502), ("anyarray_send", 2503), ("anycompatible_in", 5086),
    ("anycompatible_out", 5087), ("anycompatiblearray_in", 5088), ("anycompatiblearray_out", 5089),
    ("anycompatiblearray_recv", 5090), ("anycompatiblearray_send", 5091), ("anycompatiblemultirange_in", 4226),
    ("anycompatiblemultirange_out", 4227), ("anycompatiblenonarray_in", 5092), ("anycompatiblenonarray_out", 5093),
    ("anycompatiblerange_in", 5094), ("anycompatiblerange_out", 5095), ("anyelement_in", 2312),
    ("anyelement_out", 2313), ("anyenum_in", 3504), ("anyenum_out", 3505), ("anymultirange_in", 4229),
    ("anymultirange_out", 4230), ("anynonarray_in", 2777), ("anynonarray_out", 2778), ("anyrange_in", 3832),
    ("anyrange_out", 3833), ("array_in", 750), ("array_out", 751), ("array_recv", 2400), ("array_send", 2401),
    ("bit_in", 1564), ("bit_out", 1565), ("bit_recv", 2456), ("bit_send", 2457), ("bittypmodin", 2919),
    ("bittypmodout", 2920), ("boolin", 1242), ("boolout", 1243), ("boolrecv", 2436), ("boolsend", 2437),
    ("box_in", 123), ("box_out", 124), ("box_recv", 2484), ("box_send", 2485), ("bpcharin", 1044),
    ("bpcharout", 1045), ("bpcharrecv", 2430), ("bpcharsend", 2431), ("bpchartypmodin", 2913),
    ("bpchartypmodout", 2914), ("brin_bloom_summary_in", 4596), ("brin_bloom_summary_out", 4597),
    ("brin_bloom_summary_recv", 4598), ("brin_bloom_summary_send", 4599), ("brin_minmax_multi_summary_in", 4638),
    ("brin_minmax_multi_summary_out", 4639), ("brin_minmax_multi_summary_recv", 4640),
    ("brin_minmax_multi_summary_send", 4641), ("byteain", 1244), ("byteaout", 31), ("bytearecv", 2412),
    ("byteasend", 2413), ("cash_in", 886), ("cash_out", 887), ("cash_recv", 2492), ("cash_send", 2493),
    ("charin", 1245), ("charout", 33), ("charrecv", 2434), ("charsend", 2435), ("cidin", 52), ("cidout", 53),
    ("cidr_in", 1267), ("cidr_out", 1427), ("cidr_recv", 2498), ("cidr_send", 2499), ("cidrecv", 2442),
    ("cidsend", 2443), ("circle_in", 1450), ("circle_out", 1451), ("circle_recv", 2490), ("circle_send", 2491),
    ("cstring_in", 2292), ("cstring_out", 2293), ("cstring_recv", 2500), ("cstring_send", 2501), ("date_in", 1084),
    ("date_out", 1085), ("date_recv", 2468), ("date_send", 2469), ("domain_in", 2597), ("domain_recv", 2598),
    ("event_trigger_in", 3594), ("event_trigger_out", 3595), ("fdw_handler_in", 3116), ("fdw_handler_out", 3117),
    ("float4in", 200), ("float4out", 201), ("float4recv", 2424), ("float4send", 2425), ("float8in", 214),
    ("float8out", 215), ("float8recv", 2426), ("float8send", 2427), ("gtsvectorin", 3646), ("gtsvectorout", 3647),
    ("index_am_handler_in", 326), ("index_am_handler_out", 327), ("inet_in", 910), ("inet_out", 911),
    ("inet_recv", 2496), ("inet_send", 2497), ("int2in", 38), ("int2out", 39), ("int2recv", 2404), ("int2send", 2405),
    ("int2vectorin", 40), ("int2vectorout", 41), ("int2vectorrecv", 2410), ("int2vectorsend", 2411), ("int4in", 42),
    ("int4out", 43), ("int4recv", 2406), ("int4send", 2407), ("int8in", 460), ("int8out", 461), ("int8recv", 2408),
    ("int8send", 2409), ("internal_in", 2304), ("internal_out", 2305), ("interval_in", 1160), ("interval_out", 1161),
    ("interval_recv", 2478), ("interval_send", 2479), ("intervaltypmodin", 2903), ("intervaltypmodout", 2904),
    ("json_in", 321), ("json_out", 322), ("json_recv", 323), ("json_send", 324), ("jsonb_in", 3806),
    ("jsonb_out", 3804), ("jsonb_recv", 3805), ("jsonb_send", 3803), ("jsonpath_in", 4001), ("jsonpath_out", 4003),
    ("jsonpath_recv", 4002), ("jsonpath_send", 4004), ("language_handler_in", 2302), ("language_handler_out", 2303),
    ("line_in", 1490), ("line_out", 1491), ("line_recv", 2488), ("line_send", 2489), ("lseg_in", 119),
    ("lseg_out", 120), ("lseg_recv", 2480), ("lseg_send", 2481), ("macaddr8_in", 4110), ("macaddr8_out", 4111),
    ("macaddr8_recv", 3446), ("macaddr8_send", 3447), ("macaddr_in", 436), ("macaddr_out", 437),
    ("macaddr_recv", 2494), ("macaddr_send", 2495), ("multirange_in", 4231), ("multirange_out", 4232),
    ("multirange_recv", 4233), ("multirange_send", 4234), ("namein", 34), ("nameout", 35), ("namerecv", 2422),
    ("namesend", 2423), ("numeric_in", 1701), ("numeric_out", 1702), ("numeric_recv", 2460), ("numeric_send", 2461),
    ("numerictypmodin", 2917), ("numerictypmodout", 2918), ("oidin", 1798), ("oidout", 1799), ("oidrecv", 2418),
    ("oidsend", 2419), ("oidvectorin", 54), ("oidvectorout", 55), ("oidvectorrecv", 2420), ("oidvectorsend", 2421),
    ("path_in", 121), ("path_out", 122), ("path_recv", 2482), ("path_send", 2483), ("pg_ddl_command_in", 86),
    ("pg_ddl_command_out", 87), ("pg_ddl_command_recv", 88), ("pg_ddl_command_send", 90),
    ("pg_dependencies_in", 3404), ("pg_dependencies_out", 3405), ("pg_dependencies_recv", 3406),
    ("pg_dependencies_send", 3407), ("pg_lsn_in", 3229), ("pg_lsn_out", 3230), ("pg_lsn_recv", 3238),
    ("pg_lsn_send", 3239), ("pg_mcv_list_in", 5018), ("pg_mcv_list_out", 5019), ("pg_mcv_list_recv", 5020),
    ("pg_mcv_list_send", 5021), ("pg_ndistinct_in", 3355), ("pg_ndistinct_out", 3356), ("pg_ndistinct_recv", 3357),
    ("pg_ndistinct_send", 3358), ("pg_node_tree_in", 195), ("pg_node_tree_out", 196), ("pg_node_tree_recv", 197),
    ("pg_node_tree_send", 198), ("pg_snapshot_in", 5055), ("pg_snapshot_out", 5056), ("pg_snapshot_recv", 5057),
    ("pg_snapshot_send", 5058), ("point_in", 117), ("point_out", 118), ("point_recv", 2428), ("point_send", 2429),
    ("poly_in", 347), ("poly_out", 348), ("poly_recv", 2486), ("poly_send", 2487), ("range_in", 3834),
    ("range_out", 3835), ("range_recv", 3836), ("range_send", 3837), ("record_in", 2290), ("record_out", 2291),
    ("record_recv", 2402), ("record_send", 2403), ("regclassin", 2218), ("regclassout", 2219), ("regclassrecv", 2452),
    ("regclasssend", 2453), ("regcollationin", 4193), ("regcollationout", 4194), ("regcollationrecv", 4196),
    ("regcollationsend", 4197), ("regconfigin", 3736), ("regconfigout", 3737), ("regconfigrecv", 3738),
    ("regconfigsend", 3739), ("regdictionaryin", 3771), ("regdictionaryout", 3772), ("regdictionaryrecv", 3773),
    ("regdictionarysend", 3774), ("regnamespacein", 4084), ("regnamespaceout", 4085), ("regnamespacerecv", 4087),
    ("regnamespacesend", 4088), ("regoperatorin", 2216), ("regoperatorout", 2217), ("regoperatorrecv", 2450),
    ("regoperatorsend", 2451), ("regoperin", 2214), ("regoperout", 2215), ("regoperrecv", 2448),
    ("regopersend", 2449), ("regprocedurein", 2212), ("regprocedureout", 2213), ("regprocedurerecv", 2446),
    ("regproceduresend", 2447), ("regprocin", 44), ("regprocout", 45), ("regprocrecv", 2444), ("regprocsend", 2445),
    ("regrolein", 4098), ("regroleout", 4092), ("regrolerecv", 4094), ("regrolesend", 4095), ("regtypein", 2220),
    ("regtypeout", 2221), ("regtyperecv", 2454), ("regtypesend", 2455), ("table_am_handler_in", 267),
    ("table_am_handler_out", 268), ("textin", 46), ("textout", 47), ("textrecv", 2414), ("textsend", 2415),
    ("tidin", 48), ("tidout", 49), ("tidrecv", 2438), ("tidsend", 2439), ("time_in", 1143), ("time_out", 1144),
    ("time_recv", 2470), ("time_send", 2471), ("timestamp_in", 1312), ("timestamp_out", 1313),
    ("timestamp_recv", 2474), ("timestamp_send", 2475), ("timestamptypmodin", 2905), ("timestamptypmodout", 2906),
    ("timestamptz_in", 1150), ("timestamptz_out", 1151), ("timestamptz_recv", 2476), ("timestamptz_send", 2477),
    ("timestamptztypmodin", 2907), ("timestamptztypmodout", 2908), ("timetypmodin", 2909), ("timetypmodout", 2910),
    ("timetz_in", 1350), ("timetz_out", 1351), ("timetz_recv", 2472), ("timetz_send", 2473), ("timetztypmodin", 2911),
    ("timetztypmodout", 2912), ("trigger_in", 2300), ("trigger_out", 2301), ("tsm_handler_in", 3311),
    ("tsm_handler_out", 3312), ("tsqueryin", 3612), ("tsqueryout", 3613), ("tsqueryrecv", 3641),
    ("tsquerysend", 3640), ("tsvectorin", 3610), ("tsvectorout", 3611), ("tsvectorrecv", 3639),
    ("tsvectorsend", 3638), ("txid_snapshot_in", 2939), ("txid_snapshot_out", 2940), ("txid_snapshot_recv", 2941),
    ("txid_snapshot_send", 2942), ("unknownin", 109), ("unknownout", 110), ("unknownrecv", 2416),
    ("unknownsend", 2417), ("uuid_in", 2952), ("uuid_out", 2953), ("uuid_recv", 2961), ("uuid_send", 2962),
    ("varbit_in", 1579), ("varbit_out", 1580), ("varbit_recv", 2458), ("varbit_send", 2459), ("varbittypmodin", 2902),
    ("varbittypmodout", 2921), ("varcharin", 1046), ("varcharout", 1047), ("varcharrecv", 2432),
    ("varcharsend", 2433), ("varchartypmodin", 2915), ("varchartypmodout", 2916), ("void_in", 2298),
    ("void_out", 2299), ("void_recv", 3120), ("void_send", 3121), ("xid8in", 5070), ("xid8out", 5081),
    ("xid8recv", 5082), ("xid8send", 5083), ("xidin", 50), ("xidout", 51), ("xidrecv", 2440), ("xidsend", 2441),
    ("xml_in", 2893), ("xml_out", 2894), ("xml_recv", 2898), ("xml_send", 2899),
];
