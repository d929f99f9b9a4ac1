//! COPY: data in and out.

use skew_sql::error::{SqlError, SqlState};

use crate::postgres::conversation::{Conversation, Mode};
use crate::postgres::decode::{Request, malformed};

impl Conversation {
    /// A message while a COPY FROM STDIN waits for data.
    pub(crate) fn copy_request(&mut self, kind: u8, request: Request<'_>) {
        let done = match request {
            Request::CopyData(data) => self.connection.copy_data(data).map(|()| None),
            Request::CopyDone => self.connection.copy_done(None).map(Some),
            Request::CopyFail(why) => {
                let failed = self.connection.copy_done(Some(why));
                let message = format!("COPY from stdin failed: {why}");
                failed.map(Some).and(Err(SqlError::new(SqlState::QUERY_CANCELED, message)))
            }
            // Pipelines may have sent these before they knew that there would be a COPY.
            Request::Flush | Request::Sync => return,
            _ => return self.copy_interrupted(kind),
        };
        match done {
            Ok(None) => {}
            Ok(Some(tag)) => self.copy_finished(&tag),
            Err(error) => self.copy_failed(error),
        }
    }

    fn copy_finished(&mut self, tag: &str) {
        let Mode::Copy { rest } = std::mem::replace(&mut self.mode, Mode::Ready) else { return };
        self.tell_messages();
        let Some(rest) = rest else {
            return self.out.complete(tag);
        };
        if rest.is_empty()
            && let Err(error) = self.commit()
        {
            return self.refuse_query(error);
        }
        self.out.complete(tag);
        self.run_statements(rest);
    }

    /// The client believes that there is no COPY. Who knows what else it believes.
    fn copy_interrupted(&mut self, kind: u8) {
        self.mode = Mode::Lost;
        self.connection.fail();
        self.out.error("ERROR", &malformed(format!("unexpected message type 0x{kind:02X} during COPY from stdin")));
        self.farewell(&malformed("terminating connection because protocol synchronization was lost"));
    }

    pub(crate) fn copy_failed(&mut self, error: SqlError) {
        match std::mem::replace(&mut self.mode, Mode::Ready) {
            Mode::Copy { rest: Some(_) } => self.refuse_query(error),
            _ => self.refuse(&error),
        }
        self.flush();
    }

    /// COPY … TO STDOUT
    pub(crate) fn copy_out(&mut self, columns: usize, binary: bool, data: &[Vec<u8>]) {
        self.out.copy_response(b'H', columns, binary);
        for piece in data {
            self.out.copy_data(piece);
            self.spill();
        }
        self.out.bare(b'c');
    }
}
