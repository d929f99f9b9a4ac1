//! A page of an anomaly or a level for a terminal: simple Markdown, wrapped, with tables laid out.
//!
//! Understood: headings, paragraphs, lists, fenced code, tables, `code`, **bold** and links. Anything else is shown
//! as it stands, so that a page never loses words.

use crate::Style;
use crate::clean::{clean, columns, wrap};
use crate::paint::{Ink, Paint};

/// Lines longer than this are tiring to read, however wide the terminal is.
const MOST_COLUMNS: usize = 100;

/// Markdown as text for a terminal.
pub fn page(markdown: &str, style: Style) -> String {
    let width = if style.width == 0 { MOST_COLUMNS } else { style.width.clamp(30, MOST_COLUMNS) };
    let mut page = Page { out: String::new(), width, paint: Paint { color: style.color } };
    let lines: Vec<&str> = markdown.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        at = page.block(&lines, at);
    }
    while page.out.ends_with("\n\n") {
        page.out.pop();
    }
    page.out
}

struct Page {
    out: String,
    width: usize,
    paint: Paint,
}

impl Page {
    /// Renders the block that starts at a line and returns where the next one starts.
    fn block(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at].trim_end();
        let run = |belongs: &dyn Fn(&str) -> bool| at + lines[at..].iter().take_while(|line| belongs(line)).count();
        if line.trim().is_empty() {
            return at + 1;
        }
        if let Some(fence) = fence(line) {
            let end = lines[at + 1..].iter().position(|line| line.trim_start().starts_with(fence));
            let end = end.map_or(lines.len(), |end| at + 1 + end);
            for line in &lines[at + 1..end] {
                let line = self.paint.ink(Ink::Code, &clean(line));
                self.line(&format!("    {line}"));
            }
            self.line("");
            return (end + 1).min(lines.len());
        }
        if line.starts_with('#') {
            self.heading(line);
            return at + 1;
        }
        if line.trim_start().starts_with('|') {
            let end = run(&|line| line.trim_start().starts_with('|'));
            self.table(&lines[at..end]);
            return end;
        }
        if let Some((indent, marker, text)) = item(line) {
            let end = at + 1 + lines[at + 1..].iter().take_while(|line| continues(line)).count();
            let mut words = text.to_owned();
            for line in &lines[at + 1..end] {
                words.push(' ');
                words.push_str(line.trim());
            }
            self.filled(&words, &format!("{}{marker} ", " ".repeat(indent + 2)));
            if lines.get(end).is_none_or(|line| item(line).is_none()) {
                self.line("");
            }
            return end;
        }
        let end = run(&|line| continues(line) && item(line).is_none()).max(at + 1);
        let words: Vec<&str> = lines[at..end].iter().map(|line| line.trim()).collect();
        self.filled(&words.join(" "), "");
        self.line("");
        end
    }

    fn heading(&mut self, line: &str) {
        let depth = line.chars().take_while(|c| *c == '#').count();
        let title = inline(line[depth..].trim(), Paint { color: false });
        let rule = match depth {
            1 => "=",
            2 => "-",
            _ => "",
        };
        let wide = columns(&title);
        self.line(&self.paint.ink(Ink::Strong, &title));
        if !rule.is_empty() {
            self.line(&rule.repeat(wide));
        }
        self.line("");
    }

    /// Words behind a lead; later lines are indented as far.
    fn filled(&mut self, words: &str, lead: &str) {
        let indent = " ".repeat(columns(lead));
        let room = self.width.saturating_sub(indent.len()).max(20);
        let plain = inline(words, Paint { color: false });
        let painted = repaint(&wrap(&plain, room), words, self.paint);
        for (index, line) in painted.iter().enumerate() {
            let lead = if index == 0 { lead } else { &indent };
            self.line(&format!("{lead}{line}"));
        }
    }

    fn table(&mut self, lines: &[&str]) {
        let rows: Vec<Vec<String>> = lines.iter().filter(|line| !is_rule(line)).map(|line| cells(line)).collect();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: &Vec<String>, column: usize| row.get(column).cloned().unwrap_or_default();
        let mut widths: Vec<usize> =
            (0..count).map(|column| rows.iter().map(|row| columns(&cell(row, column))).max().unwrap_or(0)).collect();
        // Too wide: the widest column gives way, until it fits or is hardly wider than the others.
        while widths.iter().sum::<usize>() + 2 * count > self.width {
            match widths.iter_mut().max() {
                Some(widest) if *widest > 12 => *widest -= 1,
                _ => break,
            }
        }
        for (index, row) in rows.iter().enumerate() {
            let wrapped: Vec<Vec<String>> = (0..count).map(|column| wrap(&cell(row, column), widths[column])).collect();
            for part in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = String::new();
                for (column, lines) in wrapped.iter().enumerate() {
                    let text = lines.get(part).map_or("", String::as_str);
                    let space = " ".repeat(widths[column].saturating_sub(columns(text)) + 2);
                    let text = if index == 0 { self.paint.ink(Ink::Strong, text) } else { text.to_owned() };
                    line.push_str(&format!("{text}{space}"));
                }
                self.line(&line);
            }
            if index == 0 && rows.len() < lines.len() {
                let rules: Vec<String> = widths.iter().map(|wide| "-".repeat(*wide)).collect();
                self.line(&rules.join("  "));
            }
        }
        self.line("");
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence))
}

/// Whether a line goes on with the paragraph before it.
fn continues(line: &str) -> bool {
    let trimmed = line.trim_start();
    !trimmed.is_empty() && !trimmed.starts_with(['#', '|']) && fence(line).is_none() && item(line).is_none()
}

/// The indent, the mark and the words of an item of a list.
fn item(line: &str) -> Option<(usize, String, &str)> {
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    if let Some(text) = trimmed.strip_prefix("- ").or(trimmed.strip_prefix("* ")).or(trimmed.strip_prefix("+ ")) {
        return Some((indent, "-".to_owned(), text));
    }
    let (number, text) = trimmed.split_once(". ")?;
    let is_number = !number.is_empty() && number.len() < 4 && number.chars().all(|c| c.is_ascii_digit());
    is_number.then(|| (indent, format!("{number}."), text))
}

fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|');
    let line = line.strip_suffix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let (mut code, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            '|' if !code && !escaped => cells.push(String::new()),
            c => {
                code ^= c == '`';
                if let Some(cell) = cells.last_mut() {
                    if c == '|' && escaped {
                        cell.pop();
                    }
                    cell.push(c);
                }
            }
        }
        escaped = c == '\\';
    }
    cells.iter().map(|cell| inline(cell.trim(), Paint { color: false })).collect()
}

/// Inline Markdown: `code` keeps its marks, **bold** loses its stars, a link shows where it goes.
fn inline(text: &str, paint: Paint) -> String {
    let text = clean(text);
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['`', '*', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = from;
        let taken = if let Some((code, after)) = between(rest, "`", "`") {
            out.push_str(&paint.ink(Ink::Code, &format!("`{code}`")));
            Some(after)
        } else if let Some((bold, after)) = between(rest, "**", "**") {
            out.push_str(&paint.ink(Ink::Strong, &inline(bold, Paint { color: false })));
            Some(after)
        } else if let Some((words, after)) = between(rest, "[", "](") {
            after.split_once(')').map(|(target, after)| {
                out.push_str(&format!("{words} ({target})"));
                after
            })
        } else {
            None
        };
        rest = match taken {
            Some(after) => after,
            None => {
                out.push_str(&rest[..1]);
                &rest[1..]
            }
        };
    }
    out.push_str(rest);
    out
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close).filter(|(inside, _)| !inside.is_empty())
}

/// Wrapped plain lines with the paint of the words that they came from.
fn repaint(lines: &[String], words: &str, paint: Paint) -> Vec<String> {
    if !paint.color {
        return lines.to_vec();
    }
    let painted = inline(words, paint);
    let mut chars = painted.chars().peekable();
    let mut active: Option<String> = None;
    let mut out = Vec::new();
    for line in lines {
        let mut shown = active.clone().unwrap_or_default();
        for wanted in line.chars() {
            while chars.peek() == Some(&'\x1b') {
                let mut code = String::new();
                for c in chars.by_ref() {
                    code.push(c);
                    if c == 'm' {
                        break;
                    }
                }
                active = (code != "\x1b[0m").then(|| code.clone());
                shown.push_str(&code);
            }
            // Spaces at which a line was broken are in the painted words only.
            while chars.peek().is_some_and(|c| *c == ' ') && wanted != ' ' {
                chars.next();
            }
            chars.next();
            shown.push(wanted);
        }
        if chars.peek() == Some(&'\x1b') {
            active = None;
            shown.push_str("\x1b[0m");
            while chars.next().is_some_and(|c| c != 'm') {}
        } else if active.is_some() {
            shown.push_str("\x1b[0m");
        }
        out.push(shown);
    }
    out
}
