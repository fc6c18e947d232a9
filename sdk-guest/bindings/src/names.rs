//! The contract's names in the spelling of each language.

/// `session-id` → `SessionID`
pub fn pascal(name: &str) -> String {
    name.split('-').map(word).collect()
}

/// `session-id` → `sessionID`
pub fn camel(name: &str) -> String {
    let (first, rest) = name.split_once('-').unwrap_or((name, ""));
    format!("{first}{}", pascal(rest))
}

/// `session-id` → `SessionId`
pub fn upper_camel(name: &str) -> String {
    name.split('-').map(capitalised).collect()
}

/// `session-id` → `sessionId`
pub fn lower_camel(name: &str) -> String {
    let (first, rest) = name.split_once('-').unwrap_or((name, ""));
    format!("{first}{}", upper_camel(rest))
}

/// Replaces phrases of the contract's documentation by those of a language.
pub fn spoken(docs: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(docs.to_owned(), |text, (contract, language)| text.replace(contract, language))
}

fn word(word: &str) -> String {
    match word {
        "id" | "llm" | "ns" | "json" => word.to_uppercase(),
        _ => capitalised(word),
    }
}

fn capitalised(word: &str) -> String {
    word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect()
}
