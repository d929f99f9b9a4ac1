//! Colour for terminals. It is added to text that already says everything.

/// What a piece of text is.
#[derive(Clone, Copy)]
pub(crate) enum Ink {
    /// A violation, and the carets that point at it.
    Bad,
    /// Something that holds.
    Good,
    /// Something that is not known.
    Open,
    /// A headline or a title.
    Strong,
    /// The frame around recorded lines.
    Frame,
    /// What only helps to read the rest.
    Faint,
    /// A command or a piece of code.
    Code,
}

/// Paints or leaves plain.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) color: bool,
}

impl Paint {
    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Bad => "1;31",
            Ink::Good => "32",
            Ink::Open => "33",
            Ink::Strong => "1",
            Ink::Frame => "34",
            Ink::Faint => "2",
            Ink::Code => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
