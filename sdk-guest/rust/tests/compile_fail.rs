//! Mistakes that must not compile, and their messages for authors.

#[test]
fn errors_use_the_authors_terms() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
