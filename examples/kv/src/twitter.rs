//! Twitter: accounts, who follows whom, tweets, the timeline of a user and the newsfeed of a follower.
//!
//! Each user has a key with the users that they follow and one with their tweets, as in Figure 12 of the paper.

use std::collections::BTreeSet;

use skew_store::{Db, Error, Session, Transaction, Value};

use crate::{ATTEMPTS, RETRIED};

/// What became of a wish for an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Account {
    /// It is there now.
    Created,
    /// Somebody has this name already.
    Taken,
}

/// A user with a past, before anybody looks: follows these, and has tweeted these at the times from 0 on.
pub fn introduce(db: &Db, user: &str, followed: &[&str], tweets: &[&str]) {
    db.init(&following_key(user), BTreeSet::from_iter(followed.iter().copied()));
    db.init(&tweets_key(user), (0..).zip(tweets).map(|(time, &text)| (time, text)).collect::<Value>());
}

/// Creates an account.
pub fn create_account(session: &Session, user: &str) -> Result<Account, Error> {
    session.retry(ATTEMPTS, |t| {
        let key = format!("account of {user}");
        if t.read::<Option<bool>>(&key)?.is_some() {
            return Ok(Account::Taken);
        }
        t.write(&key, true)?;
        Ok(Account::Created)
    })
}

/// One user follows another from now on.
pub fn follow(session: &Session, user: &str, followed: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut following = following(t, user)?;
        following.insert(followed.to_owned());
        t.write(&following_key(user), following)
    })
}

/// One user no longer follows another.
pub fn unfollow(session: &Session, user: &str, followed: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut following = following(t, user)?;
        following.remove(followed);
        t.write(&following_key(user), following)
    })
}

/// A user says something.
pub fn tweet(session: &Session, user: &str, time: i64, text: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut tweets = tweets(t, user)?;
        tweets.push((time, text.to_owned()));
        t.write(&tweets_key(user), tweets)
    })
}

/// What a user has said, by time.
pub fn timeline(session: &Session, user: &str) -> Result<Vec<String>, Error> {
    let tweets = session.retry(ATTEMPTS, |t| tweets(t, user))?;
    Ok(by_time(tweets))
}

/// What the users have said whom this one follows, by time.
pub fn newsfeed(session: &Session, user: &str) -> Result<Vec<String>, Error> {
    let tweets = session.retry(ATTEMPTS, |t| {
        let mut feed = Vec::new();
        for followed in following(t, user)? {
            feed.extend(tweets(t, &followed)?);
        }
        Ok(feed)
    })?;
    Ok(by_time(tweets))
}

fn following(t: &Transaction<'_>, user: &str) -> Result<BTreeSet<String>, Error> {
    Ok(t.read::<Option<_>>(&following_key(user))?.unwrap_or_default())
}

fn tweets(t: &Transaction<'_>, user: &str) -> Result<Vec<(i64, String)>, Error> {
    Ok(t.read::<Option<_>>(&tweets_key(user))?.unwrap_or_default())
}

fn by_time(mut tweets: Vec<(i64, String)>) -> Vec<String> {
    tweets.sort();
    tweets.into_iter().map(|(_, text)| text).collect()
}

fn following_key(user: &str) -> String {
    format!("following of {user}")
}

fn tweets_key(user: &str) -> String {
    format!("tweets of {user}")
}

/// What Ann has seen in the workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Bob's timeline, on her phone.
    pub timeline: Vec<String>,
    /// Then her newsfeed, on her phone.
    pub feed_before: Vec<String>,
    /// Her newsfeeds on her laptop, after she has followed Bob there.
    pub feeds_after: [Vec<String>; 2],
}

/// Bob has tweeted once and tweets three times more. Ann follows Eve on her phone, looks at Bob's timeline, and then at
/// her newsfeed. On her laptop she follows Bob and looks at her newsfeed twice.
pub fn workload(db: &Db) -> Seen {
    introduce(db, "bob", &[], &["hello"]);
    db.spawn("bob", |session| {
        for (time, text) in [(1, "good morning"), (2, "lunch"), (3, "good night")] {
            tweet(&session, "bob", time, text).expect(RETRIED);
        }
    });
    let phone = db.spawn("phone", |session| {
        follow(&session, "ann", "eve").expect(RETRIED);
        [timeline(&session, "bob").expect(RETRIED), newsfeed(&session, "ann").expect(RETRIED)]
    });
    let laptop = db.spawn("laptop", |session| {
        follow(&session, "ann", "bob").expect(RETRIED);
        [newsfeed(&session, "ann").expect(RETRIED), newsfeed(&session, "ann").expect(RETRIED)]
    });
    db.join_all();
    let ([timeline, feed_before], feeds_after) = (phone.join(), laptop.join());
    Seen { timeline, feed_before, feeds_after }
}

/// A tweet that Ann had seen before she followed Bob and that is missing from her newsfeed after she did.
///
/// In a serializable run: if something of the timeline is not in the feed that follows on the phone, then Bob was not
/// followed yet. So the feeds on the laptop, which come after following him, come after the timeline too, and nobody
/// unfollows or deletes anything.
pub fn missing(seen: &Seen) -> Option<&str> {
    let followed_before = seen.timeline.iter().all(|tweet| seen.feed_before.contains(tweet));
    if followed_before {
        return None;
    }
    let lacks = |tweet: &&String| seen.feeds_after.iter().any(|feed| !feed.contains(tweet));
    seen.timeline.iter().find(lacks).map(String::as_str)
}

/// The test: the tweets that made her follow somebody are in her newsfeed afterwards.
pub fn seen_tweets_are_in_the_newsfeed(db: Db) {
    let seen = workload(&db);
    assert_eq!(missing(&seen), None, "seen before following, and missing from the newsfeed afterwards");
}
