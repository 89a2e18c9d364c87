//! Pages of a list: how many, from where, and the token for the next one.
//!
//! A token holds an offset and a digest of the question, so one that belongs to another question is refused rather
//! than answered with the wrong page. It is written in hexadecimal and means nothing to the caller. What is written
//! between two pages may shift the later one by an entry; for a list this small that is the better bargain.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::error::Faults;
use crate::request::Params;

const USUAL: usize = 50;
const LARGEST: usize = 1000;

/// Which part of a list was asked for.
pub(crate) struct Page {
    size: usize,
    offset: usize,
    question: u64,
}

impl Page {
    pub(crate) fn of(params: &Params, faults: &mut Faults) -> Self {
        let question = question(params);
        let size = params.text("pageSize").map_or(USUAL, |text| size(text, faults));
        let offset = params.text("pageToken").map_or(0, |token| offset(token, question, faults));
        Self { size, offset, question }
    }

    /// For SQL: one more than the page, which tells whether there is another.
    pub(crate) fn limit(&self) -> String {
        format!("LIMIT {} OFFSET {}", self.size + 1, self.offset)
    }

    /// Takes what `limit` let through and returns the page and the token for the next, which is empty on the last.
    pub(crate) fn cut<T>(&self, mut rows: Vec<T>) -> (Vec<T>, String) {
        if rows.len() <= self.size {
            return (rows, String::new());
        }
        rows.truncate(self.size);
        (rows, format!("{:x}-{:016x}", self.offset + self.size, self.question))
    }

    /// As `cut`, of the whole list.
    pub(crate) fn cut_whole<T>(&self, rows: Vec<T>) -> (Vec<T>, String) {
        self.cut(rows.into_iter().skip(self.offset).take(self.size + 1).collect())
    }
}

fn size(text: &str, faults: &mut Faults) -> usize {
    match text.parse::<i32>().map(usize::try_from) {
        Ok(Ok(0)) => USUAL,
        Ok(Ok(size)) => size.min(LARGEST),
        _ => {
            faults.add("pageSize", format!("is `{text}`, but must be a whole number from 0 on"));
            USUAL
        }
    }
}

fn offset(token: &str, question: u64, faults: &mut Faults) -> usize {
    let parts = token.split_once('-').map(|(offset, digest)| {
        (u32::from_str_radix(offset, 16).map(usize::try_from), u64::from_str_radix(digest, 16))
    });
    match parts {
        Some((Ok(Ok(offset)), Ok(digest))) if digest == question => offset,
        _ => {
            faults.add(
                "pageToken",
                "is not a token of this list with these arguments; leave it out to start over",
            );
            0
        }
    }
}

/// A digest of everything but the page itself. The hasher has fixed keys, so a token outlives a restart.
fn question(params: &Params) -> u64 {
    let mut hasher = DefaultHasher::new();
    params.path().hash(&mut hasher);
    params.without(&["pageSize", "pageToken"]).for_each(|pair| pair.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(pairs: &[(&str, &str)]) -> Option<Page> {
        let mut faults = Faults::default();
        let page = Page::of(&Params::of("/memos", pairs), &mut faults);
        faults.check().is_ok().then_some(page)
    }

    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(page(&[("pageSize", text)]).map(|page| page.size), expected, "{text}");
    }

    #[test]
    fn a_size_is_bounded() {
        check("", Some(50));
        check("0", Some(50));
        check("7", Some(7));
        check("1000", Some(1000));
        check("1001", Some(1000));
        check("-1", None);
        check("2.5", None);
        check("many", None);
        check("99999999999", None);
    }

    #[test]
    fn pages_follow_each_other_and_end() {
        let rows: Vec<_> = (0..5).collect();
        let (first, token) = page(&[("pageSize", "2")]).unwrap().cut_whole(rows.clone());
        assert_eq!(first, [0, 1]);
        let (second, token) =
            page(&[("pageSize", "2"), ("pageToken", &token)]).unwrap().cut_whole(rows.clone());
        assert_eq!(second, [2, 3]);
        let (third, token) =
            page(&[("pageSize", "2"), ("pageToken", &token)]).unwrap().cut_whole(rows);
        assert_eq!((third, token.as_str()), (vec![4], ""));
    }

    #[test]
    fn a_token_of_another_question_is_refused() {
        let (_, token) = page(&[("pageSize", "1"), ("filter", "a")]).unwrap().cut_whole(vec![1, 2]);
        assert!(page(&[("filter", "a"), ("pageToken", &token)]).is_some());
        assert!(page(&[("filter", "b"), ("pageToken", &token)]).is_none());
        assert!(page(&[("pageToken", "nonsense")]).is_none());
    }
}
