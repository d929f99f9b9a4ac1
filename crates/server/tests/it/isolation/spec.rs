//! Isolation specs, the text files of PostgreSQL's isolation tests: set-up, sessions with steps, and permutations of steps.

/// A spec: what runs before and after each permutation, the sessions, and the permutations.
pub(crate) struct Spec {
    pub(crate) setups: Vec<String>,
    pub(crate) teardown: Option<String>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) permutations: Vec<Vec<PermutationStep>>,
}

pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) setup: Option<String>,
    pub(crate) teardown: Option<String>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) sql: String,
}

/// A step of a permutation: which session runs what, and what its completion has to wait for.
#[derive(Clone)]
pub(crate) struct PermutationStep {
    pub(crate) session: usize,
    pub(crate) step: Step,
    pub(crate) blockers: Vec<Blocker>,
}

/// What the completion of a step has to wait for before it is reported.
#[derive(Clone)]
pub(crate) enum Blocker {
    /// `(*)`: the step is reported as waiting once, whether it waits or not.
    Once,
    /// `(step)`: the other step has completed.
    OtherStep { session: usize, name: String },
    /// `(step notices n)`: the session of the other step has received so many more messages.
    Notices { session: usize, count: usize },
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sql(String),
    Symbol(char),
}

impl Spec {
    pub(crate) fn parse(text: &str) -> Result<Spec, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0 };
        let mut spec = Spec { setups: Vec::new(), teardown: None, sessions: Vec::new(), permutations: Vec::new() };
        while parser.keyword("setup") {
            spec.setups.push(parser.sql()?);
        }
        if parser.keyword("teardown") {
            spec.teardown = Some(parser.sql()?);
        }
        while parser.keyword("session") {
            spec.sessions.push(parser.session()?);
        }
        while parser.keyword("permutation") {
            let permutation = parser.permutation(&spec.sessions)?;
            spec.permutations.push(permutation);
        }
        if let Some(token) = parser.tokens.get(parser.at) {
            return Err(format!("a spec does not go on with {token:?}"));
        }
        if spec.permutations.is_empty() {
            let mut picked = Vec::new();
            all_permutations(&spec.sessions, &mut vec![0; spec.sessions.len()], &mut picked, &mut spec.permutations);
        }
        Ok(spec)
    }
}

/// Every order of the steps in which each session keeps its own.
fn all_permutations(
    sessions: &[Session],
    taken: &mut Vec<usize>,
    picked: &mut Vec<PermutationStep>,
    found: &mut Vec<Vec<PermutationStep>>,
) {
    let mut is_complete = true;
    for (session, owner) in sessions.iter().enumerate() {
        let Some(step) = owner.steps.get(taken[session]) else { continue };
        is_complete = false;
        picked.push(PermutationStep { session, step: step.clone(), blockers: Vec::new() });
        taken[session] += 1;
        all_permutations(sessions, taken, picked, found);
        taken[session] -= 1;
        picked.pop();
    }
    if is_complete {
        found.push(picked.clone());
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn keyword(&mut self, word: &str) -> bool {
        let is_next = self.tokens.get(self.at) == Some(&Token::Word(word.to_owned()));
        self.at += usize::from(is_next);
        is_next
    }

    fn symbol(&mut self, symbol: char) -> bool {
        let is_next = self.tokens.get(self.at) == Some(&Token::Symbol(symbol));
        self.at += usize::from(is_next);
        is_next
    }

    fn sql(&mut self) -> Result<String, String> {
        match self.next() {
            Some(Token::Sql(sql)) => Ok(sql),
            token => Err(format!("SQL in braces is missing before {token:?}")),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.next() {
            Some(Token::Word(name) | Token::Quoted(name)) => Ok(name),
            token => Err(format!("a name is missing before {token:?}")),
        }
    }

    fn session(&mut self) -> Result<Session, String> {
        let mut session = Session { name: self.name()?, setup: None, teardown: None, steps: Vec::new() };
        if self.keyword("setup") {
            session.setup = Some(self.sql()?);
        }
        while self.keyword("step") {
            session.steps.push(Step { name: self.name()?, sql: self.sql()? });
        }
        if self.keyword("teardown") {
            session.teardown = Some(self.sql()?);
        }
        Ok(session)
    }

    fn permutation(&mut self, sessions: &[Session]) -> Result<Vec<PermutationStep>, String> {
        let mut steps = Vec::new();
        while let Some(Token::Word(name) | Token::Quoted(name)) = self.tokens.get(self.at).cloned() {
            if self.tokens[self.at] == Token::Word("permutation".to_owned()) {
                break;
            }
            self.at += 1;
            let (session, step) = find(sessions, &name)?;
            let blockers = if self.symbol('(') { self.blockers(sessions)? } else { Vec::new() };
            steps.push(PermutationStep { session, step, blockers });
        }
        Ok(steps)
    }

    fn blockers(&mut self, sessions: &[Session]) -> Result<Vec<Blocker>, String> {
        let mut blockers = Vec::new();
        loop {
            blockers.push(if self.symbol('*') {
                Blocker::Once
            } else {
                let name = self.name()?;
                let (session, _) = find(sessions, &name)?;
                match self.keyword("notices") {
                    true => {
                        let count = self.name()?;
                        let count = count.parse().map_err(|_| format!("`{count}` is not a number of notices"))?;
                        Blocker::Notices { session, count }
                    }
                    false => Blocker::OtherStep { session, name },
                }
            });
            if self.symbol(')') {
                return Ok(blockers);
            }
            if !self.symbol(',') {
                return Err("a comma or ) is missing after a marker".to_owned());
            }
        }
    }
}

fn find(sessions: &[Session], name: &str) -> Result<(usize, Step), String> {
    let mut steps = sessions.iter().enumerate().flat_map(|(at, session)| session.steps.iter().map(move |s| (at, s)));
    let found = steps.find(|(_, step)| step.name == name).ok_or_else(|| format!("there is no step {name}"))?;
    Ok((found.0, found.1.clone()))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\x0c')
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        rest = match c {
            '#' => tail.find('\n').map_or("", |end| &tail[end..]),
            '{' => {
                let end = tail.find('}').ok_or("a { has no }")?;
                // Blanks next to the braces are not part of the text, line breaks are.
                tokens.push(Token::Sql(tail[..end].trim_matches(is_space).to_owned()));
                &tail[end + 1..]
            }
            '"' => {
                let end = tail.find('"').ok_or("a quoted name has no end")?;
                tokens.push(Token::Quoted(tail[..end].to_owned()));
                &tail[end + 1..]
            }
            '(' | ')' | ',' | '*' => {
                tokens.push(Token::Symbol(c));
                tail
            }
            c if is_space(c) || c == '\n' => tail,
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                if end == 0 {
                    return Err(format!("`{c}` has no meaning in a spec"));
                }
                tokens.push(Token::Word(rest[..end].to_owned()));
                &rest[end..]
            }
        };
    }
    Ok(tokens)
}
