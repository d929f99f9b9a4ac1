//! Encrypted connections, in a build with the feature `tls`.

use std::process::Command;

use skew_server::tls::Certificate;
use skew_server::{Authentication, Settings};

use crate::target::{Target, has, settings};

#[test]
fn psql_connects_encrypted() {
    if !has("psql") || !has("openssl") {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (certificate, key) = (folder.join("server.crt"), folder.join("server.key"));
    let made = Command::new("openssl")
        .args(["req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-newkey", "rsa:2048"])
        .arg("-out")
        .arg(&certificate)
        .arg("-keyout")
        .arg(&key)
        .output();
    assert!(made.expect("openssl runs").status.success());
    let certificate = Some(Certificate::read(&certificate, &key).expect("a certificate and its key"));
    let authentication = Authentication::Scram("secret".to_owned());
    let target = Target::with(Settings { certificate, authentication, ..settings() });
    for (mode, expected) in [("require", "TLS"), ("disable", "")] {
        let output = target
            .command("psql")
            .env("PGSSLMODE", mode)
            .env("PGPASSWORD", "secret")
            .args(["-Xc", "\\conninfo"])
            .output()
            .expect("psql runs");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{mode}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(out.contains(expected) && out.contains("You are connected"), "{mode}: {out}");
    }
}
