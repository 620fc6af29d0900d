//! The formats of a site's values: text that is valid on a line of a job's script. Pure.

use retrial_document::formats::{
    FILLED, check_no_parent, is_word, mismatch_unless, mismatch_with_help,
};
use retrial_document::{FormatMismatch, StringFormat};

use super::sbatch_option::SbatchOption;

/// One word: a partition, an account.
pub const WORD: StringFormat = StringFormat::new(check_word).with_pattern(r"^\S+$");

/// One line without control characters: a constraint, the value of a variable.
pub const LINE: StringFormat = StringFormat::new(check_line);

/// An absolute path, or one below the user's home directory.
pub const PATH: StringFormat = StringFormat::new(check_path).with_pattern("^(/|~/)");

/// The endpoint of a container engine.
pub const ENDPOINT: StringFormat =
    StringFormat::new(check_endpoint).with_pattern("^(unix:///|tcp://|http://|https://)");

/// GPUs in the format of Slurm's `--gres`.
pub const GRES: StringFormat =
    StringFormat::new(check_gres).with_pattern("^gpu(:[A-Za-z][A-Za-z0-9_.-]*)?:[1-9][0-9]*$");

/// GPUs in the format of Slurm's `--gpus-per-node`.
pub const GPUS: StringFormat =
    StringFormat::new(check_gpus).with_pattern("^([A-Za-z][A-Za-z0-9_.-]*:)?[1-9][0-9]*$");

/// The name of an environment variable.
pub const VARIABLE: StringFormat =
    StringFormat::new(check_variable_name).with_pattern("^[A-Za-z_][A-Za-z0-9_]*$");

/// An option of `sbatch`.
pub const OPTION: StringFormat = StringFormat::new(check_sbatch_option).with_pattern("^-");

/// Commands of a shell, several lines.
pub const COMMANDS: StringFormat = StringFormat::new(check_commands);

fn check_line(text: &str) -> Option<FormatMismatch> {
    FILLED.mismatch(text).or_else(|| {
        mismatch_unless(
            !text.contains(char::is_control),
            "a line break or another control character",
            "write it on one line: it becomes a line of the job's script",
        )
    })
}

fn check_word(text: &str) -> Option<FormatMismatch> {
    check_line(text).or_else(|| {
        mismatch_unless(
            !text.contains(char::is_whitespace),
            format!("`{text}` contains whitespace"),
            "write one word",
        )
    })
}

fn check_path(text: &str) -> Option<FormatMismatch> {
    check_line(text).or_else(|| {
        if text.starts_with('/') || text.starts_with("~/") {
            return check_no_parent(text);
        }
        mismatch_with_help(
            format!("`{text}` is not an absolute path"),
            "begin with `/`, or with `~/` for your home directory",
        )
    })
}

fn check_endpoint(text: &str) -> Option<FormatMismatch> {
    let schemes = ["unix:///", "tcp://", "http://", "https://"];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) {
        return check_word(text);
    }
    check_line(text).or_else(|| {
        mismatch_with_help(
            format!("`{text}` is not an engine endpoint"),
            "write its socket, unix:///run/docker.sock, or tcp://HOST:PORT; a command such as \
             `sudo docker` has none, since Retrial speaks to the engine itself",
        )
    })
}

fn check_gres(text: &str) -> Option<FormatMismatch> {
    let counted = text.strip_prefix("gpu:");
    mismatch_unless(
        counted.is_some_and(|counted| check_gpus(counted).is_none()),
        format!("`{text}` is not a `--gres` value for GPUs"),
        "write gpu:8, or gpu:TYPE:8 as `scontrol show node` prints it under Gres",
    )
}

fn check_gpus(text: &str) -> Option<FormatMismatch> {
    let (name, count) = text.rsplit_once(':').unwrap_or(("gpu", text));
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    mismatch_unless(
        begins && is_word(name, "_.-") && count.parse::<u32>().is_ok_and(|count| count > 0),
        format!("`{text}` is not a number of GPUs"),
        "write 8, or TYPE:8",
    )
}

fn check_variable_name(text: &str) -> Option<FormatMismatch> {
    mismatch_unless(
        is_word(text, "_") && !text.starts_with(|first: char| first.is_ascii_digit()),
        format!("`{text}` is not an environment variable name"),
        "names have letters, digits and `_`, and do not begin with a digit",
    )
}

fn check_sbatch_option(text: &str) -> Option<FormatMismatch> {
    if let wrong @ Some(_) = check_line(text) {
        return wrong;
    }
    match SbatchOption::parse(text) {
        Ok(option) => option.refusal(),
        Err(wrong) => Some(wrong),
    }
}

fn check_commands(text: &str) -> Option<FormatMismatch> {
    if text.trim().is_empty() {
        return mismatch_with_help("this is empty", "write commands, or remove the key");
    }
    let is_wrong = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    let is_clean = !text.contains(is_wrong);
    mismatch_unless(is_clean, "a control character", "remove it")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(WORD, "mi355x", true)]
    #[case(WORD, "a,b", true)]
    #[case(WORD, "a b", false)]
    #[case(WORD, "a\nb", false)]
    #[case(LINE, "[a|b]&c", true)]
    #[case(LINE, "x\n#SBATCH --uid=0", false)]
    #[case(PATH, "~/retrial", true)]
    #[case(PATH, "retrial", false)]
    #[case(PATH, "/shared/../x", false)]
    #[case(ENDPOINT, "unix:///run/user/1000/podman/podman.sock", true)]
    #[case(ENDPOINT, "sudo docker", false)]
    #[case(GRES, "gpu:8", true)]
    #[case(GRES, "gpu:mi355x:8", true)]
    #[case(GRES, "gpu", false)]
    #[case(GRES, "8", false)]
    #[case(GRES, "gpu:0", false)]
    #[case(GPUS, "8", true)]
    #[case(GPUS, "mi355x:8", true)]
    #[case(GPUS, "mi355x", false)]
    #[case(VARIABLE, "HSA_XNACK", true)]
    #[case(VARIABLE, "1X", false)]
    #[case(OPTION, "--mail-type=END", true)]
    #[case(OPTION, "mail", false)]
    #[case(OPTION, "--job-name=x", false)]
    #[case(OPTION, "-p gpu", false)]
    #[case(OPTION, "--mem=0", true)]
    #[case(OPTION, "-Jx", false)]
    #[case(OPTION, "--job-nam=x", false)]
    #[case(OPTION, "-HJx", false)]
    #[case(COMMANDS, "module load x\nulimit -n 100", true)]
    #[case(COMMANDS, "a\u{1b}b", false)]
    fn values_allowed_in_a_script(
        #[case] format: StringFormat,
        #[case] text: &str,
        #[case] good: bool,
    ) {
        assert_eq!(format.mismatch(text).is_none(), good, "{text:?}");
    }
}
