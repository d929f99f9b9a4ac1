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

/// Reads a MAC address in any of the usual forms, and shows it as `08:00:2b:01:02:03`.
pub fn parse_macaddr(text: &str) -> Result<String> {
    let trimmed = trim(text);
    let separator = [':', '-', '.'].into_iter().find(|char| trimmed.contains(*char));
    let groups: Vec<&str> = match separator {
        Some(separator) => trimmed.split(separator).collect(),
        None => vec![trimmed],
    };
    let width = 12 / groups.len().max(1);
    let digits: String = groups.iter().map(|group| format!("{group:0>width$}")).collect();
    let hex = digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !hex || !matches!(groups.len(), 1 | 2 | 3 | 6) || groups.iter().any(|group| group.is_empty()) {
        return Err(invalid_syntax("macaddr", text));
    }
    let pairs: Vec<String> = (0..6).map(|at| digits[at * 2..at * 2 + 2].to_ascii_lowercase()).collect();
    Ok(pairs.join(":"))
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
