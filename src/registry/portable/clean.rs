//! One visible line of a bounded length out of a text that strangers wrote.

/// Bytes of a text that are looked at: no text is published longer, and a hostile one is not read.
const LOOKED_AT: usize = 4_096;

/// What can be seen of a text, as one line of at most `longest` bytes, cut at a sentence or a word.
pub(super) fn clean(text: &str, longest: usize) -> String {
    let visible: String =
        without_comments(floor(text, LOOKED_AT)).chars().filter(|&c| is_visible(c)).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&line, longest)
}

fn is_visible(c: char) -> bool {
    let hidden = matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}');
    !hidden && (!c.is_control() || c.is_whitespace())
}

fn without_comments(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some((before, after)) = text.split_once("<!--") {
        let rest = after.split_once("-->").map_or("", |(_, rest)| rest);
        text = format!("{before}{rest}");
    }
    text
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let head = floor(text, longest);
    let ends = head.match_indices(['.', '!', '?', '。']).map(|(at, stop)| at + stop.len());
    let apart = |end: &usize| text.get(*end..).is_some_and(starts_apart);
    let sentence = ends.filter(apart).max();
    if let Some(end) = sentence.filter(|end| *end >= longest / 3) {
        return floor(head, end).to_owned();
    }
    let head = floor(text, longest.saturating_sub('…'.len_utf8()));
    let words = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    if longest < '…'.len_utf8() { String::new() } else { format!("{words}…") }
}

fn starts_apart(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| c.is_whitespace() || !c.is_ascii())
}

/// The longest beginning of at most `longest` bytes that ends between characters.
fn floor(text: &str, longest: usize) -> &str {
    let fits = |end: &usize| text.is_char_boundary(*end);
    let end = (0..=longest.min(text.len())).rev().find(fits).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}
