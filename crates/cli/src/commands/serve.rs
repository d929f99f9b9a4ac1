//! `skew serve`: a weak database that PostgreSQL clients connect to.

mod orders;

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use skew_model::AskedLevel;
use skew_server::listen::NotStarted;
use skew_server::tls::Certificate;
use skew_server::{Authentication, Limits, Running, Server, Settings};
use skew_sql::script::Script;
use skew_sql::session::{ChoiceKind, Constraints, Options};
use skew_store::Recency;

use crate::Ending;
use crate::database_flags::{GranularityArgument, RecencyFlags, parse_isolation, recency_word};
use crate::flags::{OutputFlags, TextOrJson};
use crate::target_flag::TargetFlag;

/// How long a statement is held by default where weak behaviour needs overlap, in milliseconds.
const HOLD_MS: u64 = 3;

/// How long a ping waits for an answer.
const PING: Duration = Duration::from_secs(2);
/// PostgreSQL's SSLRequest: its length and its code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Serve a database that is as weak as its isolation level allows, to any PostgreSQL client
///
/// Point an application's tests at it instead of PostgreSQL, unchanged. Any user and any database name connect, and a
/// new name is a new, empty database. Everything is in memory and gone at the end.
#[derive(Args)]
#[command(after_help = "\
Examples:
  skew serve                                  the levels that transactions ask for, as weak as they may be
  skew serve --isolation cc --seed 7          causal consistency for every transaction, chosen from seed 7
  skew serve --isolation cc --replicated      the same on replicas that lag
  skew serve --port 0 --load schema.sql       a free port; every new database starts with this file
  skew serve --choice postgres                exactly what PostgreSQL would do
  psql postgresql://localhost:5433/shop       connects; so does every driver

Levels: transactions that ask for READ COMMITTED run at mvrc, for REPEATABLE READ at si, for SERIALIZABLE at ser.
--isolation runs every transaction at one level instead: a SQL name, or one of ru rc ra cc mvrc pc psi si ser. A
transaction that begins after a commit sees it, unless --recency none (or --replicated) is given.

Driving it from a test, in SQL, on any connection:
  SELECT skew.checkpoint()        what is there now is what a reset comes back to; the history begins here
  SELECT skew.reset(7)            back to the checkpoint (or to what was loaded), with seed 7
  SELECT skew.seed()              which seed the choices come from
  SELECT skew.isolation('cc')     transactions that begin from now on run at this level ('default': as they ask)
  SELECT skew.checking(true)      this connection's reads are the latest, for a test's final check
  SELECT skew.history()           what transactions have done since the checkpoint, for `skew check -`
                                  (in a long run the last two million reads and writes: memory stays bounded)

Exit codes: 0 ended by Ctrl-C or SIGTERM, 2 bad usage, or it could not start.")]
pub(crate) struct Arguments {
    /// The port to listen on; 0 takes a free one
    #[arg(short, long, default_value_t = 5433)]
    port: u16,

    /// The address to listen on; any other than this machine's own demands a password
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = parse_host)]
    host: IpAddr,

    /// Listen on a Unix socket in this folder too
    #[arg(long, value_name = "FOLDER")]
    unix_socket: Option<PathBuf>,

    /// What clients must know, whoever they are; SKEW_PASSWORD in the environment says it too
    #[arg(long)]
    password: Option<String>,

    /// How clients prove that they know it
    #[arg(long, value_enum, default_value = "scram")]
    auth: Method,

    /// Encrypt connections of clients that ask for it, with this certificate (PEM; needs a build with `--features tls`)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Run every transaction at this level: a SQL name, or an id (ru rc ra cc mvrc pc psi si ser)
    #[arg(short, long, value_name = "LEVEL", value_parser = parse_isolation)]
    isolation: Option<AskedLevel>,

    #[command(flatten)]
    target: TargetFlag,

    #[command(flatten)]
    recency: RecencyFlags,

    /// The longest that a statement is held, in milliseconds, while other connections are at work, so that transactions
    /// overlap in new ways [default: 3 where recency is commit and --choice is not postgres, else 0]
    #[arg(long, value_name = "MS")]
    hold: Option<u64>,

    /// How reads choose among the versions that they may return
    #[arg(long, value_enum, default_value = "random")]
    choice: ChoiceArgument,

    /// Where randomness starts [default: another one each time]
    #[arg(long)]
    seed: Option<u64>,

    /// What two transactions conflict on
    #[arg(long, value_enum, default_value = "cell")]
    granularity: GranularityArgument,

    /// Whether PRIMARY KEY, UNIQUE and FOREIGN KEY hold at every level, as in every real database, or only as far as the
    /// level sees
    #[arg(long, value_enum, default_value = "strong")]
    constraints: ConstraintsArgument,

    /// About how much a statement may keep in memory, in megabytes; a transaction may write four times as much
    #[arg(long, value_name = "MB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..1 << 24))]
    memory: u64,

    /// Run this file in every new database (repeatable)
    #[arg(long, value_name = "FILE")]
    load: Vec<PathBuf>,

    /// Ask instead whether a server at --host and --port answers: exit code 0 if it does, 1 if not
    #[arg(long)]
    ping: bool,

    /// Take orders on standard input, one per line, each answered with a line of JSON: `reset SEED` (the first one makes
    /// what is there the checkpoint), `explain`, `coverage`, `history`. The end of input ends the server.
    #[arg(long)]
    stdin: bool,

    /// How to say where the database is: `json` is one line for a program that has started the server
    #[arg(long, value_enum, default_value = "text")]
    format: TextOrJson,

    #[command(flatten)]
    output: OutputFlags,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// SCRAM-SHA-256
    Scram,
    /// As it is
    Password,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ChoiceArgument {
    Random,
    Old,
    Fresh,
    Postgres,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ConstraintsArgument {
    Strong,
    Weak,
}

fn parse_host(word: &str) -> Result<IpAddr, String> {
    match word {
        "localhost" => Ok(IpAddr::from([127, 0, 0, 1])),
        "*" => Ok(IpAddr::from([0, 0, 0, 0])),
        word => word.parse().map_err(|_| format!("`{word}` is not an IP address")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Ending, String> {
    arguments.target.must_be_executable()?;
    if arguments.ping {
        return Ok(ping(arguments));
    }
    // Before anything is started, so that a signal in between is not lost.
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("cannot wait for signals: {error}"))?;
    let settings = settings(arguments)?;
    let shown = settings.clone();
    let running = Server::bind(settings).and_then(Server::start).map_err(|error| {
        let next = match &error {
            NotStarted::Listen(_, why) if why.kind() == io::ErrorKind::AddrInUse => "; --port 0 takes a free port",
            _ => "",
        };
        format!("{error}{next}")
    })?;
    let text = match arguments.format {
        TextOrJson::Json => banner_json(arguments, &shown, &running),
        TextOrJson::Text if arguments.output.quiet => format!("postgresql://{}/postgres\n", address(&running)),
        TextOrJson::Text => banner(arguments, &shown, &running),
    };
    match &arguments.output.output {
        Some(_) => arguments.output.write(&text)?,
        None => {
            // The reader of standard output has possibly gone; the server runs all the same.
            let _ = write!(io::stdout(), "{text}").and_then(|()| io::stdout().flush());
        }
    }
    match arguments.stdin {
        true => {
            std::thread::spawn(move || {
                signals.forever().next();
                std::process::exit(0);
            });
            orders::obey(&running);
        }
        false => {
            signals.forever().next();
        }
    }
    running.end();
    Ok(Ending::Holds)
}

/// Whether a server answers: to the question whether it encrypts, which comes before any password.
fn ping(arguments: &Arguments) -> Ending {
    let address = SocketAddr::new(arguments.host, arguments.port);
    let answered = TcpStream::connect_timeout(&address, PING).and_then(|mut server| {
        server.set_read_timeout(Some(PING))?;
        server.write_all(&SSL_REQUEST)?;
        let mut answer = [0];
        server.read_exact(&mut answer).map(|()| matches!(answer, [b'N' | b'S']))
    });
    match answered {
        Ok(true) => Ending::Holds,
        _ => {
            eprintln!("skew: no server answers at {address}");
            Ending::Violated
        }
    }
}

fn settings(arguments: &Arguments) -> Result<Settings, String> {
    let password = arguments.password.clone().or_else(|| std::env::var("SKEW_PASSWORD").ok());
    if !arguments.host.is_loopback() && password.is_none() {
        return Err(format!("listening on {} demands a --password: everybody could connect", arguments.host));
    }
    if password.as_ref().is_some_and(|password| !password.is_ascii() || password.is_empty()) {
        return Err("a --password has ASCII characters only, and at least one".to_owned());
    }
    let authentication = match (password, arguments.auth) {
        (None, _) => Authentication::Trust,
        (Some(password), Method::Scram) => Authentication::Scram(password),
        (Some(password), Method::Password) => Authentication::Password(password),
    };
    let certificate = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(Certificate::read(certificate, key)?),
        _ => None,
    };
    let options = options(arguments);
    let overlaps = options.recency == Recency::Commit && options.choice != ChoiceKind::Postgres;
    let hold = arguments.hold.unwrap_or(if overlaps { HOLD_MS } else { 0 });
    Ok(Settings {
        host: arguments.host,
        port: arguments.port,
        unix_socket: arguments.unix_socket.clone(),
        authentication,
        certificate,
        options,
        hold: Duration::from_millis(hold),
        load: arguments.load.iter().map(read_script).collect::<Result<_, _>>()?,
        limits: Limits::default(),
    })
}

fn options(arguments: &Arguments) -> Options {
    Options {
        level: arguments.isolation.map(|isolation| isolation.level),
        recency: arguments.recency.recency(),
        choice: match arguments.choice {
            ChoiceArgument::Random => ChoiceKind::Random,
            ChoiceArgument::Old => ChoiceKind::Old,
            ChoiceArgument::Fresh => ChoiceKind::Fresh,
            ChoiceArgument::Postgres => ChoiceKind::Postgres,
        },
        seed: arguments.seed.unwrap_or_else(any_seed),
        granularity: arguments.granularity.into(),
        constraints: match arguments.constraints {
            ConstraintsArgument::Strong => Constraints::Strong,
            ConstraintsArgument::Weak => Constraints::Weak,
        },
        memory: usize::try_from(arguments.memory << 20).unwrap_or(usize::MAX),
    }
}

/// Another number each time, short enough to be typed again.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000
}

pub(crate) fn read_script(path: &PathBuf) -> Result<Script, String> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    Ok(Script { name: name.into(), text: text.into() })
}

/// Where clients on this machine find the server.
fn address(running: &Running) -> SocketAddr {
    match running.address() {
        address if address.ip().is_unspecified() => SocketAddr::from(([127, 0, 0, 1], address.port())),
        address => address,
    }
}

/// The same for a program, in one line.
fn banner_json(arguments: &Arguments, settings: &Settings, running: &Running) -> String {
    let address = address(running);
    let line = json!({
        "skew": "serve", "version": 1, "url": format!("postgresql://{address}/postgres"),
        "host": address.ip().to_string(), "port": address.port(), "pid": std::process::id(),
        "isolation": arguments.isolation.map(|asked| asked.word()), "level": arguments.isolation.map(|asked| asked.level.id()),
        "recency": recency_word(settings.options.recency), "seed": settings.options.seed,
        "hold_ms": settings.hold.as_millis() as u64,
        "unix_socket": running.unix_socket().map(|path| path.display().to_string()),
    });
    format!("{line}\n")
}

/// What is said when the server is up: where, at which level, from which seed.
fn banner(arguments: &Arguments, settings: &Settings, running: &Running) -> String {
    let address = address(running);
    let mut text = String::new();
    let _ = writeln!(text, "postgresql://{address}/postgres");
    if let Some(path) = running.unix_socket() {
        let _ = writeln!(text, "  socket   {}", path.display());
    }
    let level = match arguments.isolation {
        None => "READ COMMITTED is mvrc, REPEATABLE READ is si, SERIALIZABLE is ser".to_owned(),
        Some(asked) => format!("{asked} for all"),
    };
    let _ = writeln!(text, "  level    {level}");
    let recency = match settings.options.recency {
        Recency::None => "none: a read possibly misses what was committed long ago",
        Recency::Commit => "commit: a transaction that begins after a commit sees it",
    };
    let _ = writeln!(text, "  recency  {recency}");
    if !settings.hold.is_zero() {
        let _ = writeln!(text, "  hold     up to {} ms while others are at work", settings.hold.as_millis());
    }
    let _ = writeln!(text, "  seed     {}", settings.options.seed);
    let who = match settings.authentication {
        Authentication::Trust => "any user, any database name (a new name is a new database)",
        _ => "any user with the password, any database name (a new name is a new database)",
    };
    let _ = writeln!(text, "  connect  psql postgresql://{address}/postgres   {who}");
    let _ = writeln!(text, "  end      Ctrl-C");
    text
}
