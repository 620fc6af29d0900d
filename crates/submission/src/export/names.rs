//! Names of folders: the official checker accepts no spaces and no leading dots, and a name from a run
//! must not lead out of the tree.

pub(super) fn to_folder_name(name: &str) -> String {
    let is_odd = |letter: char| !letter.is_ascii_alphanumeric() && !"._+-".contains(letter);
    let sanitized = name.trim().replace(is_odd, "_");
    match sanitized.trim_start_matches('.') {
        "" => "unnamed".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::to_folder_name;

    #[rstest]
    #[case("8xMI355X_2xEPYC_9575F", "8xMI355X_2xEPYC_9575F")]
    #[case("Hewlett Packard Enterprise", "Hewlett_Packard_Enterprise")]
    #[case("../../etc", "_.._etc")]
    #[case(".hidden", "hidden")]
    #[case(" … ", "_")]
    #[case("", "unnamed")]
    fn a_name_becomes_one_directory(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(to_folder_name(name), expected);
    }
}
