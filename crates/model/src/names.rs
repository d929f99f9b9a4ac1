//! Compact names and values. A history of five million operations holds millions of them, so each is four
//! bytes: small numbers stand for themselves, everything else is an index into a table.

use std::hash::Hash;

use rustc_hash::FxHashMap;

const TEXT: u32 = 1 << 31;
const BIG: u32 = 1 << 30;

/// A key of the store, numbered densely from zero in order of first appearance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(pub u32);

/// A set of keys of its own in a store, ordered by bytes: the names of a key-value store, the rows of a table, an index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Space(pub u32);

/// The name of a session, a transaction or a key: a number or a word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Name(u32);

/// The value that an operation reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(u32);

/// What a [`Value`] or a [`Name`] stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Literal {
    /// The absence of a value: what a key holds when nobody has given it an initial value.
    Nil,
    /// A whole number.
    Int(i64),
    /// Text.
    Text(String),
}

impl Value {
    /// The absence of a value.
    pub const NIL: Value = Value(u32::MAX);

    /// The raw bits: equal values of one history have equal bits.
    pub fn bits(self) -> u32 {
        self.0
    }
}

impl From<i64> for Literal {
    fn from(number: i64) -> Self {
        Literal::Int(number)
    }
}

impl From<i32> for Literal {
    fn from(number: i32) -> Self {
        Literal::Int(number.into())
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Literal::Text(text.to_owned())
    }
}

impl From<String> for Literal {
    fn from(text: String) -> Self {
        Literal::Text(text)
    }
}

/// The tables behind the names and values of one history.
#[derive(Clone, Default, Debug)]
pub struct Names {
    texts: Interner<String>,
    numbers: Interner<i64>,
}

impl Names {
    /// The value that stands for this number.
    #[inline]
    pub fn int(&mut self, number: i64) -> Value {
        if (0..i64::from(BIG)).contains(&number) {
            Value(number as u32)
        } else {
            Value(BIG | self.numbers.intern(&number))
        }
    }

    /// The value that stands for this text.
    pub fn text(&mut self, text: &str) -> Value {
        Value(TEXT | self.texts.intern(text))
    }

    /// The value that stands for this literal.
    pub fn value(&mut self, literal: &Literal) -> Value {
        match literal {
            Literal::Nil => Value::NIL,
            Literal::Int(number) => self.int(*number),
            Literal::Text(text) => self.text(text),
        }
    }

    /// The name that stands for this literal.
    pub fn name(&mut self, literal: &Literal) -> Name {
        Name(self.value(literal).0)
    }

    /// What a value stands for.
    pub fn literal(&self, value: Value) -> Literal {
        if value == Value::NIL {
            Literal::Nil
        } else if value.0 & TEXT != 0 {
            Literal::Text(self.texts.get(value.0 & !TEXT).clone())
        } else if value.0 & BIG != 0 {
            Literal::Int(*self.numbers.get(value.0 & !BIG))
        } else {
            Literal::Int(i64::from(value.0))
        }
    }

    /// What a name stands for.
    pub fn name_literal(&self, name: Name) -> Literal {
        self.literal(Value(name.0))
    }
}

#[derive(Clone, Debug)]
struct Interner<T> {
    items: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn intern<Q>(&mut self, item: &Q) -> u32
    where
        T: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = T> + ?Sized,
    {
        if let Some(&index) = self.index.get(item) {
            return index;
        }
        let index = self.items.len() as u32;
        assert!(index < BIG - 1, "a history holds fewer than 2^30 distinct texts and large numbers");
        self.items.push(item.to_owned());
        self.index.insert(item.to_owned(), index);
        index
    }

    fn get(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}
