//! The state of cases: the real store, with the initial state of the case.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use hookbox::{
    async_trait,
    capability::state::{Space, SqliteStore, Store},
    sandbox::capability::StateError,
};

use crate::commands::scratch::Scratch;

/// The time for operations that are not part of a hook's call.
const OURS: Duration = Duration::from_secs(30);

/// A store for all cases of a run, removed at the end. Each case is a tenant, so cases do not share state.
#[derive(Clone)]
pub struct CaseStates(Arc<Inner>);

struct Inner {
    store: SqliteStore,
    cases: Mutex<HashMap<String, CaseState>>,
    _folder: Scratch,
}

/// The state of one case.
#[derive(Clone, Default)]
struct CaseState {
    /// The initial content of each space.
    seed: BTreeMap<String, String>,
    /// The spaces that hooks used, the latest last.
    spaces: Vec<Space>,
}

impl CaseStates {
    pub fn new() -> anyhow::Result<Self> {
        let folder = Scratch::new("test")?;
        let store = folder.store();
        Ok(Self(Arc::new(Inner { store, cases: Mutex::default(), _folder: folder })))
    }

    /// Starts a case. Every space that its hooks use starts with this content.
    pub fn begin(&self, tenant: &str, seed: &BTreeMap<String, String>) {
        self.cases().insert(tenant.to_owned(), CaseState { seed: seed.clone(), spaces: Vec::new() });
    }

    /// The current content of the space that was used last. With state per session, this is the last session's.
    pub async fn left(&self, tenant: &str) -> Result<BTreeMap<String, String>, StateError> {
        let story = self.cases().get(tenant).cloned().unwrap_or_default();
        let Some(space) = story.spaces.last().map(ours) else { return Ok(story.seed) };
        let mut left = BTreeMap::new();
        for key in self.0.store.keys(&space, "").await? {
            if let Some(value) = self.0.store.get(&space, &key).await? {
                left.insert(key, value);
            }
        }
        Ok(left)
    }

    fn cases(&self) -> MutexGuard<'_, HashMap<String, CaseState>> {
        self.0.cases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store. Initialises the space on its first use. Safe because the events of a case run one after another.
    async fn at(&self, space: &Space) -> Result<&SqliteStore, StateError> {
        let seed = {
            let mut cases = self.cases();
            let story = cases.entry(space.tenant.clone()).or_default();
            let same = |known: &Space| known.namespace == space.namespace && known.session == space.session;
            let before = story.spaces.len();
            story.spaces.retain(|known| !same(known));
            let is_new = story.spaces.len() == before;
            story.spaces.push(space.clone());
            if is_new { story.seed.clone() } else { BTreeMap::new() }
        };
        for (key, value) in &seed {
            self.0.store.set(&ours(space), key, value, None).await?;
        }
        Ok(&self.0.store)
    }
}

/// The same space with a longer deadline.
fn ours(space: &Space) -> Space {
    Space { deadline: Instant::now() + OURS, ..space.clone() }
}

#[async_trait]
impl Store for CaseStates {
    async fn get(&self, space: &Space, key: &str) -> Result<Option<String>, StateError> {
        self.at(space).await?.get(space, key).await
    }

    async fn set(&self, space: &Space, key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), StateError> {
        self.at(space).await?.set(space, key, value, ttl_ms).await
    }

    async fn delete(&self, space: &Space, key: &str) -> Result<bool, StateError> {
        self.at(space).await?.delete(space, key).await
    }

    async fn increment(&self, space: &Space, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, StateError> {
        self.at(space).await?.increment(space, key, by, ttl_ms).await
    }

    async fn compare_and_swap(
        &self,
        space: &Space,
        key: &str,
        expected: Option<&str>,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<bool, StateError> {
        self.at(space).await?.compare_and_swap(space, key, expected, value, ttl_ms).await
    }

    async fn keys(&self, space: &Space, prefix: &str) -> Result<Vec<String>, StateError> {
        self.at(space).await?.keys(space, prefix).await
    }
}
