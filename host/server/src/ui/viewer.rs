//! The viewer of the console: an operator sees everything, a tenant's owner only that tenant.

use axum::http::HeaderMap;

use crate::{app::App, problem::Problem, routes::bearer, token::Token};

/// The rights of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// An operator of the daemon.
    Operator,
    /// The owner of these tenants, in alphabetical order.
    Owner(Vec<String>),
}

impl Viewer {
    /// The rights of a request's token.
    ///
    /// # Errors
    /// [`Problem::Token`] if the token is missing or unknown.
    pub fn of(app: &App, headers: &HeaderMap) -> Result<(Self, Token), Problem> {
        let token = bearer(headers).map(Token::of).ok_or(Problem::Token)?;
        Ok((Self::with(app, &token)?, token))
    }

    /// The current rights of a token.
    ///
    /// # Errors
    /// [`Problem::Token`] if the token is unknown.
    pub fn with(app: &App, token: &Token) -> Result<Self, Problem> {
        if token.is_among(&app.settings.operators) {
            return Ok(Self::Operator);
        }
        let mut own = app.tenants.owned_by(token);
        own.sort();
        if own.is_empty() { Err(Problem::Token) } else { Ok(Self::Owner(own)) }
    }

    /// Returns true if the viewer sees everything.
    pub fn is_operator(&self) -> bool {
        *self == Self::Operator
    }

    /// The tenant that is charged for the requests of this viewer. `None` for an operator.
    pub fn owner(&self) -> Option<&str> {
        match self {
            Self::Operator => None,
            Self::Owner(own) => own.first().map(String::as_str),
        }
    }

    /// Returns true if the viewer may see the strings of this tenant.
    pub fn may_see(&self, tenant: &str) -> bool {
        match self {
            Self::Operator => true,
            Self::Owner(own) => own.iter().any(|name| name == tenant),
        }
    }

    /// The tenant of a request. `None`: all tenants, which only an operator may request.
    ///
    /// # Errors
    /// [`Problem::Unknown`] if the viewer may not see that tenant, even if it exists.
    pub fn scope<'a>(&'a self, requested: Option<&'a str>) -> Result<Option<&'a str>, Problem> {
        match (self, requested.filter(|tenant| !tenant.is_empty())) {
            (_, Some(tenant)) if self.may_see(tenant) => Ok(Some(tenant)),
            (_, Some(_)) => Err(Problem::Unknown("unknown tenant".into())),
            (Self::Operator, None) => Ok(None),
            (Self::Owner(own), None) => Ok(own.first().map(String::as_str)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Viewer;

    #[test]
    fn an_owner_cannot_query_all_tenants() {
        let owner = Viewer::Owner(vec!["acme".into(), "beta".into()]);
        assert_eq!(owner.scope(None), Ok(Some("acme")));
        assert_eq!(owner.scope(Some("beta")), Ok(Some("beta")));
        assert!(owner.scope(Some("other")).is_err() && !owner.may_see("other") && !owner.may_see(""));
        assert_eq!(Viewer::Operator.scope(None), Ok(None));
        assert_eq!(Viewer::Operator.scope(Some("")), Ok(None));
        assert_eq!(Viewer::Operator.scope(Some("x")), Ok(Some("x")));
    }
}
