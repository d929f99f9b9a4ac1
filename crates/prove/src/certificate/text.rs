//! Certificates as JSON text, both ways.

use serde_json::Value;

use super::data::Certificate;

/// What fits into this many characters stands on one line.
const LINE: usize = 118;

impl Certificate {
    /// As JSON that people can read: what is short stands on one line.
    pub fn to_json(&self) -> String {
        let value = serde_json::to_value(self).expect("a certificate has only texts, numbers and lists");
        let mut out = String::new();
        lay_out(&value, 0, &mut out);
        out.push('\n');
        out
    }

    /// The certificate that JSON text holds, or what is wrong with the text.
    pub fn from_json(text: &str) -> Result<Certificate, String> {
        serde_json::from_str(text).map_err(|error| format!("not a certificate: {error}"))
    }
}

fn lay_out(value: &Value, indent: usize, out: &mut String) {
    let short = value.to_string();
    let parts: Vec<(String, &Value)> = match value {
        Value::Array(items) if short.len() + indent > LINE => items.iter().map(|item| (String::new(), item)).collect(),
        Value::Object(fields) if short.len() + indent > LINE => {
            fields.iter().map(|(name, field)| (format!("{}: ", Value::from(name.as_str())), field)).collect()
        }
        _ => return out.push_str(&short),
    };
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    out.push(open);
    for (at, (name, part)) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&" ".repeat(indent + 1));
        out.push_str(name);
        lay_out(part, indent + 1, out);
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(close);
}
