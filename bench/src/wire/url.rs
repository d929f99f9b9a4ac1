//! Where a database is: `postgres://user:password@host:port/database`.

use std::str::FromStr;

/// The parts of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) database: String,
}

impl Url {
    /// The same server, another database.
    pub(crate) fn with_database(&self, database: &str) -> Url {
        Url { database: database.to_owned(), ..self.clone() }
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Url, String> {
        let rest = text
            .strip_prefix("postgres://")
            .or_else(|| text.strip_prefix("postgresql://"))
            .ok_or("a database is given as postgres://user@host:port/database")?;
        let rest = rest.split('?').next().unwrap_or_default();
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (account, place) = authority.rsplit_once('@').unwrap_or(("postgres", authority));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = place.split_once(':').unwrap_or((place, "5432"));
        Ok(Url {
            user: user.to_owned(),
            password: password.to_owned(),
            host: if host.is_empty() { "127.0.0.1" } else { host }.to_owned(),
            port: port.parse().map_err(|_| format!("`{port}` is not a port"))?,
            database: if database.is_empty() { user } else { database }.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn a_url_has_defaults() {
        let url: Url = "postgres://localhost".parse().expect("a host is enough");
        assert_eq!((url.user.as_str(), url.port, url.database.as_str()), ("postgres", 5432, "postgres"));
        let url: Url = "postgres://a:b@h:1/d?x=y".parse().expect("all parts");
        assert_eq!((url.user.as_str(), url.password.as_str(), url.host.as_str()), ("a", "b", "h"));
        assert_eq!((url.port, url.database.as_str()), (1, "d"));
    }
}
