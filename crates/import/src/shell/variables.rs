//! The variables that a script uses and nothing in it sets.

use std::collections::BTreeSet;

use brush_parser::Token;
use brush_parser::word::{Parameter, ParameterExpr, WordPiece, WordPieceWithSource};

use super::expand::changed_parameter;
use super::parse::parser_options;

/// Variables that a shell or an image sets.
const KNOWN: &str = "BASH_SOURCE CONDA_PREFIX CPATH CUDA_HOME CUDA_PATH EUID FUNCNAME HF_HOME HOME HOSTNAME IFS LANG \
                     LD_LIBRARY_PATH LD_PRELOAD LIBRARY_PATH LINENO MPI_HOME NVIDIA_VISIBLE_DEVICES OLDPWD OPTARG PATH \
                     PKG_CONFIG_PATH PWD PYTHONPATH RANDOM REPLY ROCM_PATH SECONDS SHELL TERM TMPDIR UID USER \
                     VIRTUAL_ENV";
/// Words behind which a command begins.
const KEYWORDS: [&str; 8] = ["!", "do", "elif", "else", "if", "then", "until", "while"];

/// Returns the variables that a script uses and nothing in it sets; none if it executes a file, which may set any.
pub fn unset_variables(script: &str) -> Vec<String> {
    let mut variables = Variables::default();
    // An expression of the recipe is a value.
    variables.read(&script.replace("${{", "{{"));
    let is_unset = |name: &String| {
        !variables.set.contains(name) && !KNOWN.split_whitespace().any(|known| known == name)
    };
    let mut unset: Vec<String> = Vec::new();
    for name in variables.used.into_iter().filter(is_unset) {
        if !variables.executes_file && !unset.contains(&name) {
            unset.push(name);
        }
    }
    unset
}

#[derive(Default)]
struct Variables {
    used: Vec<String>,
    set: BTreeSet<String>,
    executes_file: bool,
}

impl Variables {
    fn read(&mut self, script: &str) {
        let tokens = brush_parser::tokenize_str(script).unwrap_or_default();
        let mut tokens = tokens.iter().map(|token| (token, token.to_str()));
        let mut begins_command = true;
        let mut sets_words = false;
        while let Some((token, text)) = tokens.next() {
            if matches!(token, Token::Operator(..)) {
                if matches!(text, "<<" | "<<-") {
                    self.read_document(tokens.next(), tokens.next());
                    // Its end.
                    tokens.next();
                } else {
                    (begins_command, sets_words) = (!text.starts_with(['<', '>']), false);
                }
                continue;
            }
            self.read_word(text);
            let name = text.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
            self.executes_file |= begins_command && matches!(text, "source" | ".");
            sets_words &= text != "in";
            self.set.extend(name.or(sets_words.then_some(text)).map(str::to_owned));
            sets_words |= matches!(text, "for" | "select" | "read" | "mapfile" | "readarray");
            begins_command = KEYWORDS.contains(&text) || begins_command && name.is_some();
        }
    }

    fn read_document(&mut self, tag: Option<(&Token, &str)>, body: Option<(&Token, &str)>) {
        let is_literal = tag.is_some_and(|(_, tag)| tag.contains(['\'', '"', '\\']));
        if let Some((_, body)) = body.filter(|_| !is_literal) {
            // Quotes are text in it.
            self.read_word(&body.replace(['\'', '"'], " "));
        }
    }

    fn read_word(&mut self, text: &str) {
        let pieces = brush_parser::word::parse(text, &parser_options());
        self.read_pieces(&pieces.unwrap_or_default());
    }

    fn read_pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for piece in pieces {
            match &piece.piece {
                WordPiece::DoubleQuotedSequence(inner)
                | WordPiece::GettextDoubleQuotedSequence(inner) => self.read_pieces(inner),
                WordPiece::CommandSubstitution(command)
                | WordPiece::BackquotedCommandSubstitution(command) => self.read(command),
                WordPiece::ParameterExpansion(expression) => {
                    // `${X:-default}` needs no value.
                    let parameter = match expression {
                        ParameterExpr::Parameter { parameter, .. } => Some(parameter),
                        other => changed_parameter(other).map(|(parameter, _)| parameter),
                    };
                    if let Some(
                        Parameter::Named(name)
                        | Parameter::NamedWithIndex { name, .. }
                        | Parameter::NamedWithAllIndices { name, .. },
                    ) = parameter
                    {
                        self.used.push(name.clone());
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_nothing_sets_are_found() {
        for (script, unset) in [
            ("vllm serve $MODEL --port ${PORT}", &["MODEL", "PORT"][..]),
            ("M=x\n./bench --m \"$M\" $PATH ${N:-1}", &[]),
            ("for s in 1 2; do echo $s '$X'; done", &[]),
            ("while read -r a b; do echo $a $b $c; done", &["c"]),
            ("source env.sh\n./bench $X", &[]),
            ("pip install .\nA=1 ./bench $X $(cat $Y)", &["X", "Y"]),
            ("x ${{ params.a }} \\$Y $1 \"${{ params.b }}/$Z\" ${W%_*}", &["Z", "W"]),
            ("cat <<'E' > x\n$X\nE\ncat <<E\nit's $Z\nE\n./b $V", &["Z", "V"]),
        ] {
            assert_eq!(unset_variables(script), unset, "{script}");
        }
    }
}
