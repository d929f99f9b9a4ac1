//! What clients are sent: each message is written at the end of a buffer.

use skew_sql::error::SqlError;
use skew_sql::session::Status;
use skew_sql::types::Type;

/// A buffer of messages.
#[derive(Default)]
pub struct Messages {
    /// What was written.
    pub bytes: Vec<u8>,
}

/// A column as RowDescription describes it.
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// The table and the number of the column that it comes from, or zeros.
    pub origin: (u32, i16),
    /// Its type.
    pub ty: Type,
    /// The bytes of a value, or -1 if that varies.
    pub size: i16,
    /// The type's modifier.
    pub modifier: i32,
    /// 0 text, 1 binary.
    pub format: i16,
}

impl Messages {
    /// A message: its type, its length, what `body` writes.
    pub fn message(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.push(kind);
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        body(&mut self.bytes);
        let length = (self.bytes.len() - start) as i32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// AuthenticationOk, and the other requests and answers of authentication by their number.
    pub fn authentication(&mut self, code: i32, data: &[u8]) {
        self.message(b'R', |out| {
            out.extend(code.to_be_bytes());
            out.extend(data);
        });
    }

    /// BackendKeyData
    pub fn backend_key(&mut self, pid: i32, secret: i32) {
        self.message(b'K', |out| {
            out.extend(pid.to_be_bytes());
            out.extend(secret.to_be_bytes());
        });
    }

    /// NegotiateProtocolVersion: 3.0 it is, without these options.
    pub fn negotiate(&mut self, options: &[&str]) {
        self.message(b'v', |out| {
            out.extend(0_i32.to_be_bytes());
            out.extend((options.len() as i32).to_be_bytes());
            options.iter().for_each(|option| text(out, option));
        });
    }

    /// ParameterStatus
    pub fn parameter(&mut self, name: &str, value: &str) {
        self.message(b'S', |out| {
            text(out, name);
            text(out, value);
        });
    }

    /// ReadyForQuery
    pub fn ready(&mut self, status: Status) {
        self.message(b'Z', |out| {
            out.push(match status {
                Status::Idle => b'I',
                Status::InTransaction => b'T',
                Status::Failed => b'E',
            });
        });
    }

    /// CommandComplete
    pub fn complete(&mut self, tag: &str) {
        self.message(b'C', |out| text(out, tag));
    }

    /// A message without a body: ParseComplete (`1`), BindComplete (`2`), CloseComplete (`3`), NoData (`n`),
    /// EmptyQueryResponse (`I`), PortalSuspended (`s`), CopyDone (`c`).
    pub fn bare(&mut self, kind: u8) {
        self.message(kind, |_| {});
    }

    /// ParameterDescription
    pub fn parameters(&mut self, types: &[Type]) {
        self.message(b't', |out| {
            out.extend((types.len() as u16).to_be_bytes());
            types.iter().for_each(|ty| out.extend(ty.0.to_be_bytes()));
        });
    }

    /// RowDescription
    pub fn row_description<'a>(&mut self, count: usize, fields: impl Iterator<Item = Field<'a>>) {
        self.message(b'T', |out| {
            out.extend((count as u16).to_be_bytes());
            for field in fields {
                text(out, field.name);
                out.extend(field.origin.0.to_be_bytes());
                out.extend(field.origin.1.to_be_bytes());
                out.extend(field.ty.0.to_be_bytes());
                out.extend(field.size.to_be_bytes());
                out.extend(field.modifier.to_be_bytes());
                out.extend(field.format.to_be_bytes());
            }
        });
    }

    /// CopyInResponse (`G`) or CopyOutResponse (`H`)
    pub fn copy_response(&mut self, kind: u8, columns: usize, binary: bool) {
        self.message(kind, |out| {
            out.push(u8::from(binary));
            out.extend((columns as u16).to_be_bytes());
            (0..columns).for_each(|_| out.extend(i16::from(binary).to_be_bytes()));
        });
    }

    /// CopyData
    pub fn copy_data(&mut self, data: &[u8]) {
        self.message(b'd', |out| out.extend(data));
    }

    /// ErrorResponse, with severity ERROR or FATAL.
    pub fn error(&mut self, severity: &str, error: &SqlError) {
        self.message(b'E', |out| fields(out, severity, error));
    }

    /// NoticeResponse
    pub fn notice(&mut self, severity: &str, notice: &SqlError) {
        self.message(b'N', |out| fields(out, severity, notice));
    }

    /// NotificationResponse
    pub fn notification(&mut self, pid: i32, channel: &str, payload: &str) {
        self.message(b'A', |out| {
            out.extend(pid.to_be_bytes());
            text(out, channel);
            text(out, payload);
        });
    }
}

/// Text with a zero byte at its end. PostgreSQL's texts have none within; whatever comes after one would be misread.
fn text(out: &mut Vec<u8>, text: &str) {
    out.extend(text.split('\0').next().unwrap_or_default().as_bytes());
    out.push(0);
}

fn fields(out: &mut Vec<u8>, severity: &str, error: &SqlError) {
    let error = error.fields();
    let position = error.position.map(|position| position.to_string());
    let fields = [
        (b'S', Some(severity)),
        (b'V', Some(severity)),
        (b'C', Some(error.code.as_str())),
        (b'M', Some(error.message.as_str())),
        (b'D', error.detail.as_deref()),
        (b'H', error.hint.as_deref()),
        (b'P', position.as_deref()),
        (b'W', error.context.as_deref()),
        (b's', error.schema.as_deref()),
        (b't', error.table.as_deref()),
        (b'c', error.column.as_deref()),
        (b'd', error.data_type.as_deref()),
        (b'n', error.constraint.as_deref()),
        // Where in the source an error was made. Clients show it on request; ours are made in one place, as far as they
        // need to know.
        (b'F', Some("skew")),
        (b'L', Some("1")),
        (b'R', Some("skew")),
    ];
    for (kind, value) in fields {
        if let Some(value) = value {
            out.push(kind);
            text(out, value);
        }
    }
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use skew_sql::error::SqlState;

    #[test]
    fn an_error_has_its_fields() {
        let mut out = Messages::default();
        let error = SqlError::new(SqlState::UNIQUE_VIOLATION, "twice").detail("It is.").constraint("t_pkey").at(7);
        out.error("ERROR", &error);
        let body = String::from_utf8(out.bytes[5..].to_vec()).expect("text");
        let shown = body.replace('\0', "|");
        assert_eq!(shown, "SERROR|VERROR|C23505|Mtwice|DIt is.|P7|nt_pkey|Fskew|L1|Rskew||");
        assert_eq!(out.bytes[1..5], (out.bytes.len() as i32 - 1).to_be_bytes());
    }

    #[test]
    fn a_zero_byte_ends_a_text() {
        let mut out = Messages::default();
        out.complete("SELECT 1\0Z");
        assert_eq!(&out.bytes[5..], b"SELECT 1\0");
    }
}
