//! A request to the hooks of a tenant: finds them, and authenticates the client.

use std::{sync::Arc, time::Instant};

use axum::http::{Extensions, HeaderMap};
use tracing::Span;

use super::headers;
use crate::{
    app::App,
    event::TimeLimit,
    idle::{Admitted, TrackedConnection},
    problem::Problem,
    tenant::Tenant,
    tenants::{Standing, TenantView},
    token::Token,
    traces,
};

/// The tenant and the hooks of a request, and its deadline.
#[derive(Clone)]
pub(super) struct TenantRequest {
    /// The tenant's name in the path.
    owner: String,
    token: Option<Token>,
    pub(super) tenant: Option<Arc<Tenant>>,
    pub(super) dialect: &'static dyn hookbox::Dialect,
    /// The dialect's name in the path.
    pub(super) dialect_name: String,
    /// The reason why there are no hooks, and true if it blocks. `None` while they are loading.
    pub(super) unavailable: Option<(Problem, bool)>,
    /// The tenant's name, if the request is authenticated.
    pub(super) authenticated: Option<String>,
    /// The error of a header. The event is still read, because the tenant may fail closed.
    pub(super) invalid_header: Option<Problem>,
    pub(super) time: TimeLimit,
}

impl TenantRequest {
    /// Finds the tenant, and authenticates the client.
    pub(super) async fn find(
        app: &App,
        names: &(String, String),
        headers: &HeaderMap,
        began: Instant,
    ) -> Result<Self, Problem> {
        let (owner, dialect) = names;
        let given = headers::timeout(headers);
        let most = app.settings.timeout;
        let limit = given.as_ref().map_or(most, |given| given.map_or(most, |given| given.min(most)));
        let time = TimeLimit { began, limit };
        let found = tokio::time::timeout_at(time.deadline(), app.tenants.known(owner)).await;
        let found = found.map_err(|_| Problem::Busy("the tenants are still being read"))?;
        let token = headers::bearer(headers).map(Token::of);
        let Some(found) = found else {
            // A client without a valid token must not learn that the tenant does not exist.
            return Err(check_token(app, token.as_ref(), &[]).err().unwrap_or(Problem::Token));
        };
        let Some(known) = hookbox::dialect::by_name(dialect) else {
            return Err(check_token(app, token.as_ref(), &found.tokens)
                .err()
                .unwrap_or_else(|| unknown_dialect(dialect)));
        };
        let mut this = Self {
            owner: owner.clone(),
            token,
            tenant: None,
            dialect: known,
            dialect_name: dialect.clone(),
            unavailable: None,
            authenticated: None,
            invalid_header: given.err(),
            time,
        };
        this.apply(app, &found)?;
        Ok(this)
    }

    /// Waits for the hooks to load, until the deadline.
    pub(super) async fn when_loaded(&self, app: &App) -> Result<Self, Problem> {
        let mut this = self.clone();
        if this.tenant.is_some() || this.unavailable.is_some() {
            return Ok(this);
        }
        let settled = tokio::time::timeout_at(this.time.deadline(), app.tenants.settled(&this.owner)).await;
        // Uses the latest state, because a token may have been revoked meanwhile.
        let found = settled.unwrap_or_else(|_| app.tenants.find(&this.owner)).ok_or(Problem::Token)?;
        this.apply(app, &found)?;
        if this.tenant.is_none() && this.unavailable.is_none() {
            this.make_unavailable(app, &found, Problem::Busy("the tenant is still being loaded"))?;
        }
        Ok(this)
    }

    /// Applies the current state of the tenant, if the client's token is valid.
    fn apply(&mut self, app: &App, found: &TenantView) -> Result<(), Problem> {
        match &found.standing {
            // Its tokens are unknown so far, so the client cannot be rejected yet.
            Standing::Loading if found.tokens.is_empty() => {}
            Standing::Loading => self.authenticate(app, found)?,
            Standing::Serving(tenant) => {
                self.authenticate(app, found)?;
                if !tenant.sets.contains_key(&self.dialect_name) {
                    return Err(unknown_dialect(&self.dialect_name));
                }
                self.time.limit = self.time.limit.min(tenant.timeout.unwrap_or(self.time.limit));
                self.tenant = Some(Arc::clone(tenant));
            }
            Standing::Broken(reason) => self.make_unavailable(app, found, Problem::Unusable(reason.to_string()))?,
            Standing::Gone(_) => {
                let problem = Problem::Unusable("the tenant's file was removed".into());
                self.make_unavailable(app, found, problem)?;
            }
        }
        Ok(())
    }

    /// Records that there are no hooks. This blocks if the tenant fails closed.
    fn make_unavailable(&mut self, app: &App, found: &TenantView, problem: Problem) -> Result<(), Problem> {
        self.unavailable = Some(match self.authenticate(app, found) {
            Ok(()) => (problem, found.closed),
            // If the tokens are unknown too, a block does no harm and reveals nothing.
            Err(_) if found.closed && found.tokens.is_empty() => {
                (Problem::Unusable("the daemon's log has the reason".into()), true)
            }
            Err(refused) => return Err(refused),
        });
        Ok(())
    }

    /// Checks the token, and marks the request as authenticated.
    fn authenticate(&mut self, app: &App, found: &TenantView) -> Result<(), Problem> {
        check_token(app, self.token.as_ref(), &found.tokens)?;
        self.authenticated = Some(self.owner.clone());
        Ok(())
    }

    /// The tenant as a label in metrics and traces.
    pub(super) fn label(found: &Result<Self, Problem>) -> &str {
        found.as_ref().ok().and_then(|request| request.authenticated.as_deref()).unwrap_or_default()
    }

    /// The span of the request in the client's trace. An unauthenticated request has none.
    pub(super) fn span(&self, headers: &HeaderMap) -> Span {
        let Some(tenant) = &self.authenticated else { return Span::none() };
        let span = tracing::debug_span!("request", tenant, dialect = self.dialect_name);
        if !span.is_disabled() {
            traces::follow(&span, headers);
        }
        span
    }

    /// Marks the connection as authenticated.
    pub(super) fn mark_connection(&self, extensions: &Extensions) -> Option<Admitted> {
        Some(extensions.get::<Arc<TrackedConnection>>()?.admit(self.authenticated.as_deref()?))
    }
}

fn unknown_dialect(dialect: &str) -> Problem {
    Problem::Unknown(format!("the tenant has no hooks of the dialect `{}`", hookbox::shorten(dialect, 40)))
}

fn check_token(app: &App, token: Option<&Token>, tokens: &[Token]) -> Result<(), Problem> {
    let token = token.ok_or(Problem::Token)?;
    if token.is_among(tokens) {
        return Ok(());
    }
    Err(if app.tenants.knows(token) { Problem::Foreign } else { Problem::Token })
}
