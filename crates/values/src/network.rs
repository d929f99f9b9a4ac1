//! Network addresses, kept as the texts that PostgreSQL shows.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::error::{Result, SqlError, SqlState};
use crate::scalar::{invalid_syntax, trim};

/// Reads an inet: an address, and the bits of its network after a slash unless they are all of it.
pub fn parse_inet(text: &str) -> Result<String> {
    // Bytes at its end may be left out only where the bits say how much of it is the network.
    let found = if text.contains('/') { read_network(text) } else { read(text) };
    let (address, bits) = found.ok_or_else(|| invalid_syntax("inet", text))?;
    Ok(show(address, bits, false))
}

/// Reads a cidr: a network; there are no bits to the right of the mask.
pub fn parse_cidr(text: &str) -> Result<String> {
    let (address, bits) = read_network(text).ok_or_else(|| invalid_syntax("cidr", text))?;
    if masked(address, bits) != address {
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, format!("invalid cidr value: \"{text}\""))
            .detail("Value has bits set to right of mask."));
    }
    Ok(show(address, bits, true))
}

/// The forms of a MAC address: how many digits a group has at most (0: any number), and what follows it.
const MAC_FORMS: [(usize, [&str; 5]); 7] = [
    (0, [":"; 5]),
    (0, ["-"; 5]),
    (2, ["", "", ":", "", ""]),
    (2, ["", "", "-", "", ""]),
    (2, ["", ".", "", ".", ""]),
    (2, ["", "-", "", "-", ""]),
    (2, [""; 5]),
];

/// Reads a MAC address in any of PostgreSQL's forms, and shows it as `08:00:2b:01:02:03`.
pub fn parse_macaddr(text: &str) -> Result<String> {
    let octets = MAC_FORMS.iter().find_map(|(width, separators)| octets(text, *width, separators));
    let octets = octets.ok_or_else(|| invalid_syntax("macaddr", text))?;
    if octets.iter().any(|octet| *octet > 255) {
        let message = format!("invalid octet value in \"macaddr\" value: \"{text}\"");
        return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    Ok(octets.map(|octet| format!("{octet:02x}")).join(":"))
}

/// Six hexadecimal numbers with these separators, and nothing but blanks after them. As `scanf` reads them: blanks may
/// stand before a number, and a number takes as many digits as it may.
fn octets(text: &str, width: usize, separators: &[&str; 5]) -> Option<[u64; 6]> {
    let (mut rest, mut octets) = (text, [0; 6]);
    for (at, octet) in octets.iter_mut().enumerate() {
        rest = rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let digits = if width == 0 { digits } else { digits.min(width) };
        *octet = u64::from_str_radix(&rest[..digits], 16).ok()?;
        rest = &rest[digits..];
        if let Some(separator) = separators.get(at) {
            rest = rest.strip_prefix(separator)?;
        }
    }
    rest.trim().is_empty().then_some(octets)
}

/// The order of inet and cidr: family, network bits, mask length, address.
pub fn compare(left: &str, right: &str) -> Ordering {
    key(left).cmp(&key(right))
}

/// Bytes that compare as addresses do.
pub fn key(text: &str) -> Vec<u8> {
    let Some((address, bits)) = read(text) else { return text.as_bytes().to_vec() };
    let octets = |address| match address {
        IpAddr::V4(address) => Ipv4Addr::octets(&address).to_vec(),
        IpAddr::V6(address) => Ipv6Addr::octets(&address).to_vec(),
    };
    let mut key = vec![if address.is_ipv4() { 4 } else { 6 }];
    key.extend(octets(masked(address, bits)));
    key.push(bits);
    key.extend(octets(address));
    key
}

/// An address and how many of its bits are the network's.
pub fn read(text: &str) -> Option<(IpAddr, u8)> {
    let text = trim(text);
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    match bits {
        None => Some((address, most)),
        Some(bits) if !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit()) => {
            bits.parse().ok().filter(|bits| *bits <= most).map(|bits| (address, bits))
        }
        Some(_) => None,
    }
}

/// Like [`read`], but an IPv4 network may leave out bytes at its end (`10/8`, `192.168`).
fn read_network(text: &str) -> Option<(IpAddr, u8)> {
    if let Some(found) = read(text) {
        return Some(found);
    }
    let text = trim(text);
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let bytes: Vec<u8> = address.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    if bytes.is_empty() || bytes.len() > 3 {
        return None;
    }
    let classful = match bytes[0] {
        0..=127 => 8,
        128..=191 => 16,
        192..=223 => 24,
        224..=239 => 8,
        _ => 32,
    };
    let bits = bits.unwrap_or_else(|| classful.max(bytes.len() as u8 * 8));
    let mut octets = [0; 4];
    octets[..bytes.len()].copy_from_slice(&bytes);
    (bits <= 32).then(|| (IpAddr::from(octets), bits))
}

/// The address with the bits right of the mask cleared.
pub fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::from(Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::from(Ipv6Addr::from(u128::from(address) & mask))
        }
    }
}

/// As text; a cidr always shows its bits.
pub fn show(address: IpAddr, bits: u8, always: bool) -> String {
    let most = if address.is_ipv4() { 32 } else { 128 };
    if bits == most && !always { address.to_string() } else { format!("{address}/{bits}") }
}
