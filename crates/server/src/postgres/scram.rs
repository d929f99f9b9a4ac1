//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side, without channel binding.

use sha2::{Digest, Sha256};

/// The name of the mechanism.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// As PostgreSQL's.
const ITERATIONS: u32 = 4096;

type Key = [u8; 32];

/// What a server keeps instead of a password.
#[derive(Clone)]
pub struct Verifier {
    salt: [u8; 16],
    stored_key: Key,
    server_key: Key,
}

/// Why a step was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Not a message of this protocol: why.
    Malformed(&'static str),
    /// The password is another one.
    Password,
}

/// An exchange that has begun.
pub struct Exchange {
    /// What the server has answered to the client's first message.
    pub server_first: String,
    client_first_bare: String,
    header: String,
    nonce: String,
}

impl Verifier {
    /// Of a password, with this salt.
    pub fn new(password: &str, salt: [u8; 16]) -> Verifier {
        let salted = salted_password(password.as_bytes(), &salt);
        let client_key = hmac(&salted, b"Client Key");
        Verifier { salt, stored_key: Sha256::digest(client_key).into(), server_key: hmac(&salted, b"Server Key") }
    }

    /// Takes the client's first message.
    pub fn begin(&self, client_first: &str, server_nonce: &str) -> Result<Exchange, Refused> {
        let malformed = Refused::Malformed("malformed SCRAM message");
        let mut parts = client_first.splitn(3, ',');
        let (binding, identity, bare) = match (parts.next(), parts.next(), parts.next()) {
            (Some(binding), Some(identity), Some(bare)) => (binding, identity, bare),
            _ => return Err(malformed),
        };
        match binding {
            "n" | "y" => {}
            _ => return Err(Refused::Malformed("channel binding is not supported")),
        }
        if !identity.is_empty() {
            return Err(Refused::Malformed("authorization identities are not supported"));
        }
        let client_nonce = attribute(bare.split(',').nth(1), "r=").filter(|nonce| !nonce.is_empty());
        let nonce = format!("{}{server_nonce}", client_nonce.ok_or(malformed)?);
        Ok(Exchange {
            server_first: format!("r={nonce},s={},i={ITERATIONS}", base64::encode(&self.salt)),
            client_first_bare: bare.to_owned(),
            header: format!("{binding},,"),
            nonce,
        })
    }

    /// Takes the client's last message: the server's last one, if the password is right.
    pub fn finish(&self, exchange: &Exchange, client_final: &str) -> Result<String, Refused> {
        let malformed = Refused::Malformed("malformed SCRAM message");
        let (without_proof, proof) = client_final.rsplit_once(",p=").ok_or(malformed)?;
        let mut attributes = without_proof.split(',');
        let binding = attribute(attributes.next(), "c=").ok_or(malformed)?;
        if base64::decode(binding).ok_or(malformed)? != exchange.header.as_bytes() {
            return Err(Refused::Malformed("SCRAM channel binding check failed"));
        }
        if attribute(attributes.next(), "r=") != Some(&exchange.nonce) {
            return Err(Refused::Malformed("nonce does not match"));
        }
        let proof: Key = base64::decode(proof).and_then(|proof| proof.try_into().ok()).ok_or(malformed)?;
        let message = format!("{},{},{without_proof}", exchange.client_first_bare, exchange.server_first);
        let signature = hmac(&self.stored_key, message.as_bytes());
        let client_key: Key = std::array::from_fn(|i| proof[i] ^ signature[i]);
        // Every byte is compared, whatever the first ones are: the time says nothing.
        let hashed = Sha256::digest(client_key);
        let difference = hashed.iter().zip(self.stored_key).fold(0, |difference, (a, b)| difference | (a ^ b));
        if difference != 0 {
            return Err(Refused::Password);
        }
        Ok(format!("v={}", base64::encode(&hmac(&self.server_key, message.as_bytes()))))
    }
}

fn attribute<'a>(part: Option<&'a str>, prefix: &str) -> Option<&'a str> {
    part?.strip_prefix(prefix)
}

/// PBKDF2 with one block, which is all that SHA-256 needs.
fn salted_password(password: &[u8], salt: &[u8]) -> Key {
    let mut block = hmac(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut sum = block;
    for _ in 1..ITERATIONS {
        block = hmac(password, &block);
        sum = std::array::from_fn(|i| sum[i] ^ block[i]);
    }
    sum
}

fn hmac(key: &[u8], message: &[u8]) -> Key {
    const BLOCK: usize = 64;
    let mut padded = [0; BLOCK];
    match key.len() {
        0..=BLOCK => padded[..key.len()].copy_from_slice(key),
        _ => padded[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let inner = Sha256::new().chain_update(padded.map(|byte| byte ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded.map(|byte| byte ^ 0x5c)).chain_update(inner).finalize().into()
}

/// Base64 with padding.
pub mod base64 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// Bytes as text.
    pub fn encode(bytes: &[u8]) -> String {
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let letter = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
                text.push(if place <= chunk.len() { char::from(letter) } else { '=' });
            }
        }
        text
    }

    /// Text as bytes.
    pub fn decode(text: &str) -> Option<Vec<u8>> {
        let letters = text.trim_end_matches('=').as_bytes();
        if !text.len().is_multiple_of(4) || text.len() - letters.len() > 2 {
            return None;
        }
        let mut bytes = Vec::new();
        for chunk in letters.chunks(4) {
            let mut bits = 0;
            for letter in chunk {
                bits = bits << 6 | ALPHABET.iter().position(|known| known == letter)? as u32;
            }
            bits <<= 6 * (4 - chunk.len());
            bytes.extend(&bits.to_be_bytes()[1..chunk.len()]);
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exchange that RFC 7677 prints.
    fn rfc_7677() -> (Verifier, Exchange) {
        let salt = base64::decode("W22ZaJ0SNY7soEsUEjb6gQ==").and_then(|salt| salt.try_into().ok());
        let verifier = Verifier::new("pencil", salt.expect("16 bytes"));
        let exchange = verifier.begin("n,,n=user,r=rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
        (verifier, exchange.expect("well-formed"))
    }

    #[test]
    fn the_exchange_of_the_rfc_comes_out() {
        let (verifier, exchange) = rfc_7677();
        assert_eq!(exchange.server_first, {
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        });
        let last = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        let answer = verifier.finish(&exchange, last).expect("the right password");
        assert_eq!(answer, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn another_proof_is_refused() {
        let (verifier, exchange) = rfc_7677();
        let proof = base64::encode(&[7; 32]);
        let last = format!("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p={proof}");
        assert_eq!(verifier.finish(&exchange, &last), Err(Refused::Password));
        for wrong in ["", "p=", "c=biws", "c=biws,r=other,p=dHzb", "c=****,r=x,p=*"] {
            assert!(matches!(verifier.finish(&exchange, wrong), Err(Refused::Malformed(_))), "{wrong}");
        }
    }

    #[test]
    fn base64_goes_both_ways() {
        for length in 0..40 {
            let bytes: Vec<u8> = (0..length).map(|i: u8| i.wrapping_mul(37)).collect();
            assert_eq!(base64::decode(&base64::encode(&bytes)), Some(bytes));
        }
        assert_eq!(base64::decode("a==="), None);
    }
}
