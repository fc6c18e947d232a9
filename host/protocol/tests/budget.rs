//! The budget of a configuration's matchers.
#![allow(clippy::unwrap_used)]

use hookbox_protocol::matcher::{Budget, CallMatcher, CallPatterns, MatchError, MatchStyle, Matcher};

fn compile(budget: &mut Budget, pattern: &str) -> Result<Matcher, MatchError> {
    Matcher::compile_within(budget, MatchStyle::Search, Some(pattern))
}

#[test]
fn patterns_that_are_large_when_compiled_are_refused_at_once() {
    for pattern in [r"\pL{1,500}", r"(?:\w{100}){100}", "(?:a{1000}){1000}", &r"\w*".repeat(2_600), &"a.".repeat(5_000)]
    {
        let mut budget = Budget::default();
        let error = compile(&mut budget, pattern).unwrap_err();
        assert!(matches!(error, MatchError::TooLarge { .. }), "{error}");
        assert!(error.to_string().len() < 300, "{error}");
        // No pattern is compiled after the first error.
        assert!(budget.is_used_up() && compile(&mut budget, "a.b").is_err());
    }
    for pattern in ["^mcp__(?:github|gitlab)__.*$", r"^\w+$", r"(?i)bash|\p{Han}{1,4}", "[^a-z]{1,64}"] {
        assert!(compile(&mut Budget::default(), pattern).is_ok(), "{pattern}");
    }
}

#[test]
fn many_patterns_are_counted_together_and_the_same_one_once() {
    let mut budget = Budget::default();
    for _ in 0..100_000 {
        compile(&mut budget, "^mcp__.*").unwrap();
    }
    assert!(!budget.is_used_up());
    let taken = (0..100_000).take_while(|number| compile(&mut budget, &format!("a.{number}")).is_ok()).count();
    assert!((200..1_000).contains(&taken), "{taken}");
}

#[test]
fn parts_of_call_matchers_and_names_are_counted() {
    let mut budget = Budget::default();
    let large = || vec!["a".to_owned(), r"\pL{1,500}".to_owned()];
    let patterns = [
        ("tools", CallPatterns { tools: large(), ..CallPatterns::default() }),
        ("paths", CallPatterns { paths: large(), ..CallPatterns::default() }),
        ("commands", CallPatterns { commands: large(), ..CallPatterns::default() }),
    ];
    for (part, patterns) in patterns {
        let refused =
            CallMatcher::compile_within(&mut Budget::default(), &patterns).map_err(|(part, at, _)| (part, at));
        assert_eq!(refused.err(), Some((part, 1)));
    }
    let globs = CallPatterns { paths: (0..5_000).map(|n| format!("src/{n}/**")).collect(), ..CallPatterns::default() };
    assert!(CallMatcher::compile_within(&mut budget, &globs).is_err());
    for style in [MatchStyle::NamesOrSearch, MatchStyle::Search] {
        let names = "a|".repeat(8 << 20);
        assert!(Matcher::compile_within(&mut Budget::default(), style, Some(&names)).is_err());
    }
    let names = vec!["Bash"; 10_000].join("|");
    assert!(Matcher::compile_within(&mut Budget::default(), MatchStyle::NamesOrSearch, Some(&names)).is_ok());
}
