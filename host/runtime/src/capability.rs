//! What a component may call beyond its own event, as hookbox ships it: each over something the host brings, a
//! [`state::Store`], an [`http::HttpClient`] or an [`llm::Model`].

pub mod http;
pub mod llm;
pub mod state;

pub use hookbox_sandbox::capability::*;
