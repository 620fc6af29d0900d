//! Short forms of built-in names: their last part, with as many of the parts before it as make it unique.

/// Returns the only name that a short form may mean.
pub fn find_unique(short: &str, names: &[String]) -> Option<String> {
    match find_matching(short, names)[..] {
        [only] => Some(only.to_owned()),
        _ => None,
    }
}

/// Returns the names that a short form may mean: with its last part, and its other parts in their order
/// (`v6.0/llama2-70b-mi355x`).
pub fn find_matching<'a>(short: &str, names: &'a [String]) -> Vec<&'a str> {
    names.iter().map(String::as_str).filter(|name| is_short_form(short, name)).collect()
}

/// Returns the shortest form that means this name only.
pub fn shorten(name: &str, names: &[String]) -> String {
    let (parents, last) = name.rsplit_once('/').unwrap_or(("", name));
    let with_parent = |parent: &str| format!("{parent}/{last}");
    let forms = std::iter::once(last.to_owned()).chain(parents.rsplit('/').map(with_parent));
    let unique = |form: &String| find_unique(form, names).is_some();
    forms.into_iter().find(unique).unwrap_or_else(|| name.to_owned())
}

fn is_short_form(short: &str, name: &str) -> bool {
    let mut parts = name.rsplit('/');
    let mut wanted = short.rsplit('/');
    wanted.next() == parts.next() && wanted.all(|part| parts.any(|own| own == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        let names = [
            "mlperf-inference/v6.0/amd/llama2-70b-mi355x",
            "mlperf-inference/v6.1/amd/llama2-70b-mi355x",
            "mlperf-inference/v6.1/amd/dlrm-v3-mi355x",
        ];
        names.map(str::to_owned).to_vec()
    }

    #[test]
    fn the_end_of_a_name_is_enough_if_it_is_unique() {
        let unique = |short: &str| find_unique(short, &names());
        assert_eq!(unique("dlrm-v3-mi355x"), Some(names()[2].clone()));
        assert_eq!(unique("v6.0/llama2-70b-mi355x"), Some(names()[0].clone()));
        assert_eq!(unique("v6.0/amd/llama2-70b-mi355x"), Some(names()[0].clone()));
        assert_eq!(unique("llama2-70b-mi355x"), None);
        assert_eq!(unique("amd/v6.0/llama2-70b-mi355x"), None);
        assert_eq!(unique("v6.0"), None);
        assert_eq!(unique(""), None);
    }

    #[test]
    fn a_name_is_shortened_to_what_is_unique() {
        let [first, _, last] = &names()[..] else { panic!("three names") };
        assert_eq!(shorten(first, &names()), "v6.0/llama2-70b-mi355x");
        assert_eq!(shorten(last, &names()), "dlrm-v3-mi355x");
    }
}
