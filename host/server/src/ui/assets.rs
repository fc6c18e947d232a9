//! The files of the page. `just console` builds them, and the program contains them compressed.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Response, StatusCode, header},
    response::IntoResponse,
    routing::get,
};
use hookbox::sha256;

use crate::app::App;

/// The content security policy: only the page's own files, and no dynamic code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// A file of the page.
#[derive(Debug, Clone, Copy)]
struct Asset {
    path: &'static str,
    kind: &'static str,
    /// The content for `Content-Encoding: deflate`.
    deflated: &'static [u8],
}

macro_rules! asset {
    ($path:literal, $name:literal, $kind:literal) => {
        Asset { path: $path, kind: $kind, deflated: include_bytes!(concat!(env!("OUT_DIR"), "/console/", $name, ".z")) }
    };
}

const ASSETS: [Asset; 4] = [
    asset!("/ui", "index.html", "text/html; charset=utf-8"),
    asset!("/ui/app.js", "app.js", "text/javascript; charset=utf-8"),
    asset!("/ui/app.css", "app.css", "text/css; charset=utf-8"),
    asset!("/ui/icon.svg", "icon.svg", "image/svg+xml"),
];

/// The routes of the page's files.
pub fn routes() -> Router<Arc<App>> {
    ASSETS.into_iter().fold(Router::new(), |router, asset| {
        // A browser revalidates each time, and gets the file only if it changed.
        let tag = format!("\"{}\"", sha256(asset.deflated).get(..16).unwrap_or_default());
        router.route(asset.path, get(move |headers: HeaderMap| async move { asset.answer(&headers, &tag) }))
    })
}

impl Asset {
    fn answer(self, headers: &HeaderMap, tag: &str) -> Response<Body> {
        let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let takes = |word: &str| {
            let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
            accepted
                .flat_map(|value| value.split(','))
                .any(|coding| coding.split(';').next().map(str::trim) == Some(word))
        };
        let deflated = takes("deflate");
        let body: Cow<'static, [u8]> = match known {
            true => Cow::Borrowed(&[]),
            false if deflated => Cow::Borrowed(self.deflated),
            false => miniz_oxide::inflate::decompress_to_vec_zlib(self.deflated).unwrap_or_default().into(),
        };
        let mut answer = Body::from(body.into_owned()).into_response();
        if known {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = answer.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, self.kind),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-cache"),
            (header::VARY, "accept-encoding"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if deflated && !known {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("deflate"));
        }
        headers.extend(HeaderValue::from_str(tag).map(|tag| (header::ETAG, tag)));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::ASSETS;

    /// The limit of all compressed files together, in bytes.
    const MOST: usize = 150 << 10;

    #[test]
    fn the_page_is_small() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.deflated.len()).sum();
        assert!(bytes <= MOST, "{bytes}");
        assert!(ASSETS.iter().all(|asset| asset.deflated.len() > 100));
    }
}
