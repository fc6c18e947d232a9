//! The capabilities that hookbox ships for components. Each uses a backend that the embedder may replace: a
//! [`state::Store`], an [`http::HttpClient`] or an [`llm::Model`].

pub mod http;
pub mod llm;
pub mod state;

pub use hookbox_sandbox::capability::*;
