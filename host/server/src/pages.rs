//! Pages that need no token: their number in memory is bounded, however many clients ask and do not read.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;

/// The maximum number of pages in memory. Further requests share the latest.
const PAGES: usize = 8;

/// The pages that are not sent yet, oldest first.
#[derive(Debug, Default)]
pub struct Pages(Mutex<Vec<Weak<String>>>);

/// A page as bytes that share its text.
struct Page(Arc<String>);

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Pages {
    /// The bytes of a new page, or of the latest one if too many are not sent yet.
    pub fn page(&self, make: impl FnOnce() -> String) -> Bytes {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|page| page.strong_count() > 0);
        let latest = pages.last().filter(|_| pages.len() >= PAGES).and_then(Weak::upgrade);
        let page = latest.unwrap_or_else(|| {
            let page = Arc::new(make());
            pages.push(Arc::downgrade(&page));
            page
        });
        Bytes::from_owner(Page(page))
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGES, Pages};

    #[test]
    fn pages_are_new_until_too_many_are_not_sent() {
        let pages = Pages::default();
        let mut unread: Vec<_> = (0..PAGES + 3).map(|number| pages.page(|| number.to_string())).collect();
        assert!(unread.iter().take(PAGES).enumerate().all(|(number, page)| *page == number.to_string()));
        assert!(unread.iter().skip(PAGES).all(|page| *page == (PAGES - 1).to_string()));
        unread.clear();
        assert_eq!(pages.page(|| "new".into()), "new");
    }
}
