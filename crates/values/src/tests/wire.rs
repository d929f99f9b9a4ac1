//! The wire's binary format.

use super::{World, show};
use crate::error::Result;
use crate::{Datum, Type, Typed, binary};

/// The wire form in hex, after it was read back and was the same value.
pub(super) fn there_and_back(value: &Datum, typed: Typed, world: &World) -> Result<String> {
    let mut bytes = Vec::new();
    binary::output_into(&mut bytes, value, typed.ty, world)?;
    let back = binary::input(&bytes, typed, world)?;
    assert_eq!(show(&back, typed.ty, world), show(value, typed.ty, world), "what was sent comes back");
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[test]
fn malformed_wire_values_are_refused() {
    let world = World::default();
    let refused = |bytes: &[u8], ty: Type, code: &str| {
        let error = binary::input(bytes, ty.into(), &world).expect_err("a malformed value is refused");
        assert_eq!(error.fields().code, code, "{bytes:?} as {ty:?}: {error}");
    };
    refused(&[0, 0, 0], Type::INT4, "08P01");
    refused(&[0, 0, 0, 0, 0], Type::INT4, "22P03");
    refused(&[0xFF], Type::TEXT, "22021");
    refused(&[b'a', 0], Type::TEXT, "22021");
    refused(&[2], Type::JSONB, "XX000");
    refused(&[1, b'{'], Type::JSONB, "22P02");
    refused(&[0, 0, 0, 7], Type::INT4_ARRAY, "08P01");
    refused(&[0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 23], Type::INT4_ARRAY, "54000");
    refused(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 1], Type::INT4_ARRAY, "42804");
    refused(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1], Type::INT4_ARRAY, "54000");
    refused(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1], Type::INT4_ARRAY, "08P01");
    refused(&[0, 1, 0, 0, 0, 0, 0, 0], Type::NUMERIC, "08P01");
    refused(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10], Type::NUMERIC, "22P03");
    refused(&[0, 0, 0, 0, 0x12, 0x34, 0, 0], Type::NUMERIC, "22P03");
    refused(&[9, 32, 0, 4, 1, 2, 3, 4], Type::INET, "22P03");
    refused(&[0, 0, 0, 9, 0xFF], Type::BIT, "08P01");
}
