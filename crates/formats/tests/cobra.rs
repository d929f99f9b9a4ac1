//! Cobra's folders.

mod common;

use std::fs;
use std::path::PathBuf;

use common::text;
use skew_formats::{read_cobra, write_cobra};
use skew_model::History;

const INIT: i64 = 0xbebe_ebee;
const NULL: i64 = 0xdead_beef;

/// A folder of its own for a test, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("skew-cobra-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder for temporary files is writable");
        Folder(path)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("the folder is writable");
    }

    fn read(&self) -> Result<History, String> {
        let shown = self.0.display().to_string();
        read_cobra(&self.0).map_err(|error| error.to_string().replace(&shown, "folder"))
    }

    #[track_caller]
    fn check(&self, hist: &str) {
        assert_eq!(self.read().map(|history| history.to_string()), Ok(text(hist)));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn log(records: &[(char, &[i64])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (letter, numbers) in records {
        bytes.push(*letter as u8);
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    }
    bytes
}

#[test]
fn a_log_is_a_session() {
    let folder = Folder::new("sessions");
    folder.put("T10.log", &log(&[('S', &[9]), ('R', &[7, 100, 5, 1]), ('C', &[9]), ('S', &[11]), ('W', &[102, 5, 3])]));
    folder.put("T2.log", &log(&[('S', &[7]), ('R', &[NULL, NULL, 6, 0]), ('W', &[100, 5, 1]), ('C', &[7])]));
    let gc = ('R', &[INIT, 0x2333_2333, 8, 0][..]);
    folder.put("T3.log", &log(&[('S', &[8]), ('R', &[INIT, INIT, 5, 77]), gc, ('C', &[8])]));
    folder.put("notes.txt", b"not a log");
    folder.check(
        "T2  t7   r 6=nil  w 5=100
         T3  t8   r 5=nil
         T10 t9   r 5=100
         T10 t11 maybe  w 5=102",
    );
    let history = folder.read().expect("read before");
    assert!(history.files()[usize::from(history.txns()[2].file)].ends_with("T10.log"));
}

#[test]
fn errors_name_the_file_and_the_byte() {
    for (records, cut, message) in [
        (&[('S', &[7][..]), ('W', &[1, 2, 3])][..], 1, "at byte 26: the file ends in the middle of a record"),
        (&[('W', &[1, 2, 3])], 0, "at byte 1: an operation outside of a transaction"),
        (&[('S', &[7]), ('C', &[8])], 0, "at byte 18: transaction 8 commits while 7 runs"),
        (&[('S', &[7]), ('C', &[7]), ('S', &[7])], 0, "at byte 27: transaction 7 starts for the second time"),
        (&[('S', &[7]), ('R', &[INIT, 5, 1, 1])], 0, "at byte 42: the initial transaction has no write 5"),
        (&[('S', &[7]), ('X', &[])], 0, "at byte 10: a record cannot start with the byte 88"),
    ] {
        let folder = Folder::new("errors");
        let bytes = log(records);
        folder.put("T1.log", &bytes[..bytes.len() - cut]);
        let error = folder.read().map(|history| history.to_string()).expect_err("not a log");
        assert!(error.starts_with(&format!("folder/T1.log: {message}")), "{error}\nshould say\n{message}");
    }
    let error = Folder::new("empty").read().map(|history| history.to_string()).expect_err("nothing there");
    assert!(error.starts_with("folder: there is no transaction in it"), "{error}");
}

#[test]
fn a_folder_of_dbcop_is_read_too() {
    let folder = Folder::new("dbcop");
    folder.put("history.bincode", br#"[[{"events":[["w",1,1]],"committed":true}]]"#);
    folder.check("s1 t1  w 1=1");
}

#[test]
fn what_is_written_reads_the_same() {
    let hist = "T0 t1  w 5=100  r 6=nil
                T0 t2 maybe  w 5=101
                T1 t3  r 5=100";
    let folder = Folder::new("written");
    let history = skew_model::history!(&text(hist));
    write_cobra(&history, &folder.0).expect("the format can say this");
    folder.check(hist);
    let again = write_cobra(&history, &folder.0).expect_err("there are logs").to_string();
    assert!(again.ends_with("has *.log files already"), "{again}");
}

#[test]
fn what_it_cannot_say_is_refused() {
    for (hist, what) in [
        ("a t aborted w 1=1", "that t rolled back"),
        ("a t w 1=1\nb u w 1=1", "two writes of 1=1"),
        ("a t r 1=1", "`r 1=1`, which nobody wrote"),
        ("a t w x=1", "the key of `w x=1`"),
        ("a t w 1=3200183278\nb u r 1=3200183278", "`w 1=3200183278`: it keeps the number 3200183278 for itself"),
    ] {
        let folder = Folder::new("refused");
        let refusal = write_cobra(&skew_model::history!(&text(hist)), &folder.0).expect_err("refused").to_string();
        assert!(refusal.starts_with(&format!("the cobra format cannot express {what}")), "{refusal}");
    }
}

#[test]
fn no_damage_makes_it_panic() {
    let folder = Folder::new("damage");
    let sample = log(&[('S', &[7]), ('R', &[INIT, INIT, 6, 0]), ('W', &[100, 5, 1]), ('C', &[7]), ('S', &[8])]);
    for length in 0..sample.len() {
        folder.put("T1.log", &sample[..length]);
        let _ = folder.read();
    }
    for at in 0..sample.len() {
        for bit in 0..8 {
            let mut damaged = sample.clone();
            damaged[at] ^= 1 << bit;
            folder.put("T1.log", &damaged);
            let _ = folder.read().map(|history| history.to_string());
        }
    }
}
