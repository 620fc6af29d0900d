//! One option of `sbatch`, in each form that it accepts: `--name`, `--name=value`, `--name value`, `-N`, `-Nvalue` and
//! `-N value`, and long names cut to a part that is unique (GNU's `getopt_long`). Pure.

use retrial_document::FormatMismatch;

/// Options that Retrial sets itself, each with the reason: a run is identified by its job's name, and a job that is
/// requeued or waited for would differ from the one that Retrial follows.
const RESERVED_OPTIONS: [(&[&str], &str); 13] = [
    (&["--job-name", "-J"], "Retrial finds a run's job by its name"),
    (&["--dependency", "-d"], "a run's jobs run one after the other"),
    (&["--requeue"], "`retrial resume` resubmits runs that did not finish"),
    (&["--no-requeue", "--parsable"], "it is always given"),
    (&["--signal"], "a run is warned before its time limit"),
    (&["--output", "-o"], "the job's output is a file of the run"),
    (&["--error", "-e"], "the job's output is a file of the run"),
    (&["--array", "-a"], "Retrial submits a batch as arrays, and a run as one job"),
    (&["--wait", "-W"], "`retrial run` waits by itself"),
    (&["--wrap"], "the script is Retrial's"),
    (&["--nodes", "-N"], "the recipe sets the number of nodes of a run"),
    (&["--ntasks-per-node", "--ntasks", "-n"], "a run is one task on each node"),
    (&["--test-only", "--help", "-h", "--usage", "--version", "-V"], "sbatch would submit nothing"),
];

/// Options that are keys of a site, with the key.
const SITE_KEY_OPTIONS: [(&[&str], &str); 9] = [
    (&["--partition", "-p"], "partition"),
    (&["--account", "-A"], "account"),
    (&["--qos", "-q"], "qos"),
    (&["--reservation"], "reservation"),
    (&["--constraint", "-C"], "constraint"),
    (&["--gres"], "gres"),
    (&["--gpus-per-node"], "gpus_per_node"),
    (&["--exclusive"], "exclusive"),
    (&["--time", "-t"], "time_limit"),
];

/// Other options whose name begins the name of one above.
const UNABBREVIATED_OPTIONS: [&str; 1] = ["--gpus"];

/// One-letter options that take a value, of Slurm 22.05. Text after any other letter would be a further option.
const VALUED_LETTERS: &str = "abcdeimnopqtwxABCDFGJLMNS";

/// An option of `sbatch` and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SbatchOption<'a> {
    /// `--mail-type` or `-w`, as written.
    pub name: &'a str,
    /// Its value, if one follows the name.
    pub value: Option<&'a str>,
}

impl<'a> SbatchOption<'a> {
    /// Parses one option with its value.
    ///
    /// # Errors
    /// If it is none, or may be several.
    pub fn parse(text: &'a str) -> Result<Self, FormatMismatch> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let is_long = text.starts_with("--");
        let end = match text.find(|letter| !is_name(letter)) {
            Some(end) if is_long => end,
            None if is_long => text.len(),
            _ => text.len().min(2),
        };
        let letters = text.strip_prefix('-').unwrap_or_default();
        if !letters.trim_start_matches('-').starts_with(char::is_alphabetic)
            || !text.is_char_boundary(end)
        {
            return Err(new_mismatch(
                format!("`{text}` is not an option"),
                "write it as on sbatch's command line: --mail-type=END",
            ));
        }
        let (name, rest) = text.split_at(end);
        let value = match rest.strip_prefix('=').filter(|_| is_long) {
            Some(value) => Some(value),
            None => Some(rest.trim_start()).filter(|value| !value.is_empty()),
        };
        let is_separate = rest.starts_with([' ', '=']) || rest.is_empty();
        let takes = name[1..].chars().all(|letter| VALUED_LETTERS.contains(letter));
        let is_one = if is_long { is_separate } else { takes || value.is_none() };
        if !is_one {
            return Err(new_mismatch(
                format!("`{text}` may be several options"),
                "write each as an entry of its own",
            ));
        }
        Ok(Self { name, value })
    }

    /// Formats it as a word of a command line, its value quoted by `quoted`.
    pub fn to_word(self, quoted: impl Fn(&str) -> String) -> String {
        let Self { name, value } = self;
        let equals = if name.starts_with("--") { "=" } else { "" };
        let value_part = value.map(|value| format!("{equals}{}", quoted(value)));
        format!("{name}{}", value_part.unwrap_or_default())
    }

    /// Returns why a site may not have it as an option.
    pub fn refusal(self) -> Option<FormatMismatch> {
        if let Some((full, reason)) = self.find_in_table(&RESERVED_OPTIONS) {
            let help = format!("remove it: {reason}");
            return Some(new_mismatch(format!("{full} is set by Retrial"), help));
        }
        let (full, key) = self.find_in_table(&SITE_KEY_OPTIONS)?;
        let help = format!("write it as `{key}:`");
        Some(new_mismatch(format!("{full} is a key of the site"), help))
    }

    /// The option of a table that this one is, with the text of its row.
    fn find_in_table(self, table: &[(&[&str], &'static str)]) -> Option<(String, &'static str)> {
        let name = self.name;
        let is_whole = UNABBREVIATED_OPTIONS.contains(&name);
        let is_it = |full: &&&str| {
            // An abbreviation that others share is refused by sbatch.
            let is_part = name.starts_with("--") && full.starts_with(name) && !is_whole;
            **full == name || is_part
        };
        table.iter().find_map(|(names, text)| {
            let full = names.iter().find(is_it)?;
            let shown =
                if *full == name { format!("`{name}`") } else { format!("`{name}` (`{full}`)") };
            Some((shown, *text))
        })
    }

    /// The names of all options that [`Self::refusal`] knows.
    pub fn refused_names() -> impl Iterator<Item = &'static str> {
        let own = RESERVED_OPTIONS.iter().map(|(names, _)| names);
        let names = own.chain(SITE_KEY_OPTIONS.iter().map(|(names, _)| names));
        names.flat_map(|names| names.iter().copied())
    }
}

fn new_mismatch(what: String, help: impl Into<String>) -> FormatMismatch {
    (what, Some(help.into()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("--mail-type=END", "--mail-type='END'")]
    #[case("--mail-type END", "--mail-type='END'")]
    #[case("--hold", "--hold")]
    #[case("-H", "-H")]
    #[case("-wn1", "-w'n1'")]
    #[case("-w n1", "-w'n1'")]
    #[case("-D /a b", "-D'/a b'")]
    #[case("--comment=a --job-name=x", "--comment='a --job-name=x'")]
    #[case("--hold --job-name=x", "--hold='--job-name=x'")]
    fn one_entry_is_one_option(#[case] text: &str, #[case] word: &str) {
        let option = SbatchOption::parse(text).unwrap();
        assert_eq!(option.to_word(|value| format!("'{value}'")), word);
        assert_eq!(option.refusal().map(|wrong| wrong.0), None);
    }

    #[rstest]
    #[case("-HJx", "may be several options")]
    #[case("-H --job-name=x", "may be several options")]
    #[case("-vN2", "may be several options")]
    #[case("--hold;--job-name=x", "may be several options")]
    #[case("--", "is not an option")]
    #[case("-", "is not an option")]
    #[case("-é", "is not an option")]
    #[case("x", "is not an option")]
    fn several_options_in_an_entry_are_refused(#[case] text: &str, #[case] message: &str) {
        let wrong = SbatchOption::parse(text).unwrap_err();
        assert!(wrong.0.contains(message), "{}", wrong.0);
    }

    #[rstest]
    #[case("-Jx", "`-J` is set by Retrial")]
    #[case("-J x", "`-J` is set by Retrial")]
    #[case("--job-nam=x", "`--job-nam` (`--job-name`) is set by Retrial")]
    #[case("--job-name x", "`--job-name` is set by Retrial")]
    #[case("--j=x", "`--j` (`--job-name`) is set by Retrial")]
    #[case("-N2", "`-N` is set by Retrial")]
    #[case("-N 2", "`-N` is set by Retrial")]
    #[case("--requ", "`--requ` (`--requeue`) is set by Retrial")]
    #[case("-W", "`-W` is set by Retrial")]
    #[case("-t10", "`-t` is a key of the site")]
    #[case("-pgpu", "`-p` is a key of the site")]
    #[case("--acc=x", "`--acc` (`--account`) is a key of the site")]
    #[case("--gpus-per-n=8", "`--gpus-per-n` (`--gpus-per-node`) is a key of the site")]
    fn each_form_of_a_refused_option_is_recognised(#[case] text: &str, #[case] message: &str) {
        let refusal = SbatchOption::parse(text).unwrap().refusal();
        assert_eq!(refusal.unwrap().0, message);
    }

    #[rstest]
    #[case("--gpus=8")]
    #[case("--wait-all-nodes=1")]
    #[case("--time-min=10")]
    #[case("--gres-flags=enforce-binding")]
    #[case("--exclude=n1")]
    #[case("-xn1")]
    fn other_options_are_accepted(#[case] text: &str) {
        let refusal = SbatchOption::parse(text).unwrap().refusal();
        assert_eq!(refusal.map(|wrong| wrong.0), None);
    }
}
