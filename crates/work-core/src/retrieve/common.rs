//! Words that bind sentences together and carry nothing to search for.
//!
//! Owns the list of English function words. Refuses to know nouns, verbs and adjectives, however frequent: how
//! much these tell is a matter of statistics. The list is the closed classes of an English grammar: articles,
//! pronouns, prepositions, conjunctions, auxiliary verbs, question words, and the adverbs of negation and degree.

/// Whether the folded `word` is an English function word.
pub(super) fn is_common(word: &str) -> bool {
    COMMON.binary_search(&word).is_ok()
}

/// Whether the folded `word` is what follows the apostrophe of a contraction or possessive.
pub(super) fn is_contraction(word: &str) -> bool {
    ["d", "ll", "m", "re", "s", "t", "ve"].contains(&word)
}

#[rustfmt::skip]
const COMMON: [&str; 200] = [
    "a", "about", "above", "across", "after", "again", "against", "all", "almost", "along", "also",
    "although", "always", "am", "amid", "among", "an", "and", "another", "any", "anybody", "anyone",
    "anything", "are", "around", "as", "at", "be", "because", "been", "before", "behind", "being", "below",
    "beneath", "beside", "besides", "between", "beyond", "both", "but", "by", "can", "cannot", "could",
    "despite", "did", "do", "does", "doing", "done", "down", "during", "each", "either", "even", "ever",
    "every", "everybody", "everyone", "everything", "except", "few", "for", "from", "had", "has", "have",
    "having", "he", "hence", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if",
    "in", "inside", "into", "is", "it", "its", "itself", "just", "many", "may", "me", "might", "mine", "more",
    "most", "much", "must", "my", "myself", "neither", "never", "no", "nobody", "none", "nor", "not",
    "nothing", "of", "off", "on", "once", "one", "only", "onto", "or", "other", "others", "ought", "our",
    "ours", "ourselves", "out", "outside", "over", "own", "per", "quite", "rather", "same", "several",
    "shall", "she", "should", "since", "so", "some", "somebody", "someone", "something", "such", "than",
    "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "this", "those",
    "though", "through", "throughout", "thus", "till", "to", "too", "toward", "towards", "under",
    "underneath", "unless", "until", "up", "upon", "us", "very", "via", "was", "we", "were", "what",
    "whatever", "when", "where", "whereas", "whether", "which", "whichever", "while", "who", "whoever",
    "whom", "whose", "why", "will", "with", "within", "without", "would", "yet", "you", "your", "yours",
    "yourself", "yourselves",
];

#[cfg(test)]
mod tests {
    use super::*;

    // spec: Q1
    #[test]
    fn the_list_is_in_order_and_folded() {
        assert!(COMMON.is_sorted_by(|a, b| a < b));
        assert!(COMMON.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    // spec: Q1
    #[test]
    fn function_words_are_common_and_frequent_nouns_are_not() {
        assert!(["the", "of", "which", "would"].into_iter().all(is_common));
        assert!(!["time", "people", "use", "make", "don", "won"].into_iter().any(is_common));
    }
}
