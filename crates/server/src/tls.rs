//! TLS between a client and its socket. Without the feature `tls` there is none, and clients that ask are told so.

use std::fmt;
use std::path::Path;

/// A certificate and its key.
#[derive(Clone)]
pub struct Certificate {
    #[cfg(feature = "tls")]
    config: std::sync::Arc<rustls::ServerConfig>,
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certificate")
    }
}

#[cfg(not(feature = "tls"))]
impl Certificate {
    /// Reads PEM files.
    pub fn read(_certificate: &Path, _key: &Path) -> Result<Certificate, String> {
        Err("this skew was built without TLS; build it with `--features tls`".to_owned())
    }
}

#[cfg(feature = "tls")]
mod with_tls {
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::{ServerConfig, ServerConnection};

    use super::Certificate;

    impl Certificate {
        /// Reads PEM files.
        pub fn read(certificate: &Path, key: &Path) -> Result<Certificate, String> {
            let named = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
            let chain: Result<Vec<CertificateDer<'static>>, _> =
                CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
            let chain = chain.map_err(|why| named(certificate, &why))?;
            let key_der = PrivateKeyDer::from_pem_file(key).map_err(|why| named(key, &why))?;
            let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key_der);
            Ok(Certificate { config: Arc::new(config.map_err(|why| named(certificate, &why))?) })
        }
    }

    /// One connection's encryption, shared by who reads and who writes. Nobody waits for the network while holding it,
    /// except to write.
    #[derive(Clone)]
    pub(crate) struct Session(Arc<Mutex<ServerConnection>>);

    impl Session {
        pub(crate) fn new(certificate: &Certificate) -> Option<Session> {
            let connection = ServerConnection::new(Arc::clone(&certificate.config)).ok()?;
            Some(Session(Arc::new(Mutex::new(connection))))
        }

        /// Reads what was encrypted, from a socket that is read with `read` and written with `socket`.
        pub(crate) fn read(
            &self,
            buffer: &mut [u8],
            mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
            socket: &mut impl Write,
        ) -> io::Result<usize> {
            let mut encrypted = [0; 16 << 10];
            loop {
                match self.lock().reader().read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // A client that hangs up without saying so has hung up.
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                    done => return done,
                }
                let count = read(&mut encrypted)?;
                let mut connection = self.lock();
                let mut rest = &encrypted[..count];
                loop {
                    connection.read_tls(&mut rest)?;
                    let processed = connection.process_new_packets();
                    // What is wrong is said before the connection ends.
                    while connection.wants_write() {
                        connection.write_tls(socket)?;
                    }
                    processed.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
                    if rest.is_empty() {
                        break;
                    }
                }
            }
        }

        /// Encrypts and writes.
        pub(crate) fn write(&self, bytes: &[u8], socket: &mut impl Write) -> io::Result<usize> {
            let mut connection = self.lock();
            let count = connection.writer().write(bytes)?;
            while connection.wants_write() {
                connection.write_tls(socket)?;
            }
            Ok(count)
        }

        fn lock(&self) -> MutexGuard<'_, ServerConnection> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

#[cfg(feature = "tls")]
pub(crate) use with_tls::Session;

/// There is none.
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(crate) enum Session {}

#[cfg(not(feature = "tls"))]
impl Session {
    pub(crate) fn new(_: &Certificate) -> Option<Session> {
        None
    }

    pub(crate) fn read<R, W>(&self, _: &mut [u8], _: R, _: &mut W) -> std::io::Result<usize> {
        match *self {}
    }

    pub(crate) fn write<W>(&self, _: &[u8], _: &mut W) -> std::io::Result<usize> {
        match *self {}
    }
}
