//! `tools/list`: pages made once per list, and cursors that survive a swap for a minute.
//!
//! A list is known by its fingerprint, so equal lists of different generations are one. A page holds
//! as many tools as fit the byte budget; most lists are one page, since many clients never ask for a
//! second. A cursor is the fingerprint and an offset. A list that was replaced is kept for a minute
//! when it has several pages, so that a client can finish what it began, as long as all that are kept
//! fit a bound of bytes. What is kept is the list alone, never its snapshot.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::Tool;
use serde_json::value::RawValue;

use crate::{snapshot::Snapshot, source::Digest};

/// How long a replaced list can still be paged through.
const KEPT: Duration = Duration::from_secs(60);
/// Bytes of replaced lists kept at most, so that memory stays bounded however often files change.
const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// One list in pages; at least one, the first may be empty.
#[derive(Debug)]
pub(super) struct Listing {
    fingerprint: Digest,
    /// Of its tools as JSON.
    bytes: usize,
    pages: Vec<Page>,
}

/// A run of tools.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// The tools, in list order.
    pub(super) tools: Vec<Tool>,
    /// The cursor of the next page; `None` on the last.
    pub(super) next: Option<String>,
}

impl Listing {
    fn of(snapshot: &Snapshot, budget: usize) -> serde_json::Result<Self> {
        let raw: Vec<&RawValue> = serde_json::from_slice(snapshot.list())?;
        let fingerprint = *snapshot.fingerprint();
        let mut pages = vec![Page::default()];
        let (mut used, mut offset) = (0, 0);
        for tool in raw {
            let size = tool.get().len() + 1;
            let last = pages.last_mut().expect("there is a page from the start");
            if used + size > budget && !last.tools.is_empty() {
                last.next = Some(cursor(&fingerprint, offset));
                pages.push(Page::default());
                used = 0;
            }
            let last = pages.last_mut().expect("there is a page from the start");
            last.tools.push(serde_json::from_str(tool.get())?);
            used += size;
            offset += 1;
        }
        Ok(Self { fingerprint, bytes: snapshot.list().len(), pages })
    }

    fn position(&self, cursor: &str) -> Option<usize> {
        let before = self.pages.iter().position(|page| page.next.as_deref() == Some(cursor))?;
        Some(before + 1)
    }
}

fn cursor(fingerprint: &Digest, offset: usize) -> String {
    let list: String = fingerprint.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    format!("{list}-{offset}")
}

/// A place in a list.
#[derive(Debug)]
pub(super) struct Place {
    listing: Arc<Listing>,
    page: usize,
}

impl Place {
    /// The page there.
    pub(super) fn page(&self) -> &Page {
        self.listing.pages.get(self.page).expect("a place is made with the position of a page")
    }
}

/// The newest list and, for a minute, those it replaced.
#[derive(Debug)]
pub(super) struct Listings {
    budget: usize,
    recent: Mutex<Vec<Recent>>,
}

#[derive(Debug)]
struct Recent {
    listing: Arc<Listing>,
    /// When it was first seen not to be the newest; `None` for the newest.
    replaced: Option<Instant>,
}

impl Listings {
    /// With pages of at most `budget` bytes, but for a tool that is larger alone.
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, recent: Mutex::default() }
    }

    /// The page at a cursor, or the first; `None` when the cursor is of no list that is kept.
    ///
    /// # Errors
    /// When the snapshot's list is not a list of tools, which is a bug.
    pub(super) fn page(
        &self,
        snapshot: &Snapshot,
        cursor: Option<&str>,
    ) -> serde_json::Result<Option<Place>> {
        let listing = self.current(snapshot, Instant::now())?;
        let Some(cursor) = cursor else {
            return Ok(Some(Place { listing, page: 0 }));
        };
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(recent.iter().find_map(|recent| {
            let page = recent.listing.position(cursor)?;
            Some(Place { listing: Arc::clone(&recent.listing), page })
        }))
    }

    fn current(&self, snapshot: &Snapshot, now: Instant) -> serde_json::Result<Arc<Listing>> {
        if let Some(listing) = self.find(snapshot.fingerprint(), now) {
            return Ok(listing);
        }
        // Built outside the lock: two requests may both build the first list after a swap.
        let listing = Arc::new(Listing::of(snapshot, self.budget)?);
        Ok(self.keep(listing, now))
    }

    fn find(&self, fingerprint: &Digest, now: Instant) -> Option<Arc<Listing>> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let found = recent.iter().position(|recent| recent.listing.fingerprint == *fingerprint)?;
        // A list may become the newest again.
        for (place, recent) in recent.iter_mut().enumerate() {
            recent.replaced = if place == found { None } else { recent.replaced.or(Some(now)) };
        }
        recent.get(found).map(|recent| Arc::clone(&recent.listing))
    }

    fn keep(&self, listing: Arc<Listing>, now: Instant) -> Arc<Listing> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter_mut().for_each(|recent| _ = recent.replaced.get_or_insert(now));
        recent.retain(|recent| {
            recent.listing.fingerprint != listing.fingerprint
                && recent.listing.pages.len() > 1
                && recent.replaced.is_none_or(|replaced| now.duration_since(replaced) < KEPT)
        });
        // The oldest come first.
        let mut bytes: usize = recent.iter().map(|recent| recent.listing.bytes).sum();
        recent.retain(|recent| {
            let fits = bytes <= KEPT_BYTES;
            bytes -= if fits { 0 } else { recent.listing.bytes };
            fits
        });
        recent.push(Recent { listing: Arc::clone(&listing), replaced: None });
        listing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tests::snapshot;

    fn names(place: &Place) -> Vec<&str> {
        place.page().tools.iter().map(|tool| tool.name.as_ref()).collect()
    }

    #[test]
    fn a_list_within_the_budget_is_one_page_without_cursor() {
        let listings = Listings::new(1_000_000);
        let place = listings.page(&snapshot(1, &["a", "b", "c"]), None).unwrap().unwrap();
        assert_eq!(names(&place), ["a", "b", "c"]);
        assert_eq!(place.page().next, None);
    }

    #[test]
    fn pages_hold_every_tool_once_and_end() {
        let all = ["a", "b", "c", "d", "e"];
        let snapshot = snapshot(1, &all);
        let one = snapshot.list().len() / all.len();
        for (budget, expected) in [(1, 5), (one * 2 + 9, 3), (one * 4 + 9, 2), (one * 9, 1)] {
            let listings = Listings::new(budget);
            let mut place = listings.page(&snapshot, None).unwrap().unwrap();
            let (mut seen, mut pages) = (names(&place).join(""), 1);
            while let Some(next) = place.page().next.clone() {
                place = listings.page(&snapshot, Some(&next)).unwrap().unwrap();
                seen += &names(&place).join("");
                pages += 1;
            }
            assert_eq!((seen.as_str(), pages), ("abcde", expected), "budget {budget}");
        }
    }

    #[test]
    fn paging_goes_on_through_a_swap_on_the_list_it_began_with_and_keeps_no_snapshot() {
        let listings = Listings::new(1);
        let old = Arc::new(snapshot(1, &["a", "b"]));
        let next = listings.page(&old, None).unwrap().unwrap().page().next.clone().unwrap();
        assert_eq!(Arc::into_inner(old).unwrap().generation(), 1, "nobody else holds it");
        let new = snapshot(2, &["x", "y"]);
        assert_eq!(names(&listings.page(&new, None).unwrap().unwrap()), ["x"]);
        assert_eq!(names(&listings.page(&new, Some(&next)).unwrap().unwrap()), ["b"]);
    }

    #[test]
    fn an_unknown_cursor_has_no_page() {
        let listings = Listings::new(1);
        let snapshot = snapshot(1, &["a", "b"]);
        for text in ["", "x", "0-1", &cursor(snapshot.fingerprint(), 9)] {
            assert!(listings.page(&snapshot, Some(text)).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn a_list_is_kept_for_a_minute_after_it_was_replaced_however_many_came_since() {
        let listings = Listings::new(1);
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let old = snapshot(0, &["a", "b"]);
        let next = listings.current(&old, at(0)).unwrap().pages[0].next.clone().unwrap();
        // Long the newest, then replaced by one after another.
        listings.current(&old, at(500)).unwrap();
        let mut newest = snapshot(1, &["t1", "z"]);
        for generation in 1..59 {
            newest = snapshot(generation, &[&format!("t{generation}"), "z"]);
            listings.current(&newest, at(500 + generation)).unwrap();
        }
        assert_eq!(names(&listings.page(&newest, Some(&next)).unwrap().unwrap()), ["b"]);
        listings.current(&snapshot(99, &["x", "y"]), at(561)).unwrap();
        assert!(listings.page(&newest, Some(&next)).unwrap().is_none());
    }

    #[test]
    fn a_list_that_is_the_newest_again_is_not_dropped() {
        let listings = Listings::new(1);
        let at = |seconds| Instant::now() + Duration::from_secs(seconds);
        let [first, second] = [snapshot(1, &["a", "b"]), snapshot(2, &["c", "d"])];
        for (seconds, snapshot) in [(0, &first), (1, &second), (2, &first), (100, &second)] {
            listings.current(snapshot, at(seconds)).unwrap();
        }
        listings.current(&snapshot(3, &["e", "f"]), at(120)).unwrap();
        assert_eq!(listings.recent.lock().unwrap().len(), 3);
    }

    #[test]
    fn few_bytes_of_lists_are_kept_and_single_pages_not_at_all() {
        let many: Vec<_> = (0..50).map(|n| snapshot(n, &[&format!("t{n}"), "b"])).collect();
        let each = many[0].list().len();
        for (budget, kept) in [(1, 50), (1_000_000, 1)] {
            let listings = Listings::new(budget);
            for snapshot in &many {
                listings.page(snapshot, None).unwrap().unwrap();
            }
            assert_eq!(listings.recent.lock().unwrap().len(), kept);
        }
        let large = |listing: &Listing| Listing {
            bytes: KEPT_BYTES / 3,
            fingerprint: listing.fingerprint,
            pages: vec![Page::default(), Page::default()],
        };
        let listings = Listings::new(each);
        for snapshot in &many {
            let listing = large(&Listing::of(snapshot, 1).unwrap());
            listings.keep(Arc::new(listing), Instant::now());
        }
        assert_eq!(listings.recent.lock().unwrap().len(), 4);
    }
}
